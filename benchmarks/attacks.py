"""Attacks a running server beside good clients, and prints the times of the good ones.

regard serve --workers 2 --preload en-fr --port 8000
python benchmarks/attacks.py http://127.0.0.1:8000 glossary --seconds 60 --hostile 1

glossary   20 sentences of ten terms each, with a glossary of 24 terms whose translations the model would not choose
bodies     bodies of 19.9 MB, as JSON and as a form
ids        2,000 copies of one id in `glossary_ids`
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import Counter

import httpx

_TERMS = """house garden window table kitchen bread water street school teacher student book letter music friend family
    morning evening winter summer doctor hospital engine market"""
TERMS = _TERMS.split()
GOOD = {"q": "The cat is black.", "source": "en", "target": "fr"}
GOOD_CLIENTS = 4
FORM, JSON = {"content-type": "application/x-www-form-urlencoded"}, {"content-type": "application/json"}


async def attack(client: httpx.AsyncClient, kind: str) -> int:
    """Send one hostile request; return the status."""
    if kind == "glossary":
        sentences = ["The " + " and the ".join(random.sample(TERMS, 10)) + " are here." for _ in range(20)]
        body = {"text": " ".join(sentences), "source": "en", "target": "fr", "beam": 5}
        glossary = "\n".join(f"{term}\t{term[::-1]}x" for term in TERMS)
        return (await client.post("/api/translate", json={**body, "glossary": glossary})).status_code
    if kind == "bodies":
        headers = random.choice([FORM, JSON])
        return (await client.post("/translate", content=b"q=" + b"word " * 3_980_000, headers=headers)).status_code
    entries = {"name": "a", "source_lang": "en", "target_lang": "fr", "entries": "cat\tminou", "entries_format": "tsv"}
    made = (await client.post("/v2/glossaries", json=entries)).json()["glossary_id"]
    body = {"text": ["The cat is black."], "source_lang": "EN", "target_lang": "FR", "glossary_ids": [made] * 2000}
    return (await client.post("/v2/translate", json=body)).status_code


async def main(url: str, kind: str, seconds: float, hostile: int) -> None:
    seen: Counter[str] = Counter()
    times: list[float] = []
    until = time.monotonic() + seconds

    async def hostile_client() -> None:
        async with httpx.AsyncClient(base_url=url, timeout=200) as client:
            while time.monotonic() < until:
                try:
                    seen[f"hostile {await attack(client, kind)}"] += 1
                except httpx.HTTPError as problem:
                    seen[f"hostile {type(problem).__name__}"] += 1

    async def good_client() -> None:
        async with httpx.AsyncClient(base_url=url, timeout=200) as client:
            while time.monotonic() < until:
                began = time.monotonic()
                seen[f"good {(await client.post('/translate', json=GOOD)).status_code}"] += 1
                times.append(time.monotonic() - began)
                await asyncio.sleep(random.uniform(0.3, 0.7))

    await asyncio.gather(*(hostile_client() for _ in range(hostile)), *(good_client() for _ in range(GOOD_CLIENTS)))
    times.sort()
    p50, p99 = times[len(times) // 2], times[int(0.99 * len(times))]
    counts = ", ".join(f"{name}: {count}" for name, count in sorted(seen.items()))
    print(f"{kind}: good p50 {p50:.2f}, p99 {p99:.2f}, most {times[-1]:.2f} s; {counts}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("kind", choices=["glossary", "bodies", "ids"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--hostile", type=int, default=1, metavar="N", help="hostile clients at a time")
    given = parser.parse_args()
    asyncio.run(main(given.url, given.kind, given.seconds, given.hostile))
