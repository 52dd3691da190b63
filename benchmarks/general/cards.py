"""What a card says beside what was measured, and what was measured into the card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.bundle.folder import CARD, read_json
from regard.files import write_atomically

TOLERANCE = 0.1  # points; another processor rounds otherwise and may change a few sentences among thousands


def write(folder: Path, measured: Mapping[str, Any]) -> None:
    """The figures into the section `tests`; those of other sets stay, and of the same set those of the other engine."""
    card = read_json(folder / CARD)
    before = card.get("tests", {})
    for name, found in measured.items():
        same = before.get(name, {}).get("fingerprint") == found["fingerprint"]
        before[name] = (before[name] if same else {}) | found
    card["tests"] = before
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / CARD, lambda path: path.write_text(text, encoding="utf-8"))


def agrees(folder: Path, measured: Mapping[str, Any], looked_for: Sequence[str], known: Sequence[str]) -> bool:
    """Print what was measured beside what the card says; do they agree? A set of the card that was looked for and not
    found counts as a difference."""
    said = read_json(folder / CARD).get("tests", {})
    lacking = [name for name in said if name not in measured and (name in looked_for or name not in known)]
    for name in lacking:
        print(f"{name}: in the card, but no such test set was found; name its folder: --tests, --tatoeba")
    agree = [_agrees(name, found, said.get(name)) for name, found in measured.items()]  # all are shown
    return all(agree) and not lacking


def _agrees(name: str, found: Mapping[str, Any], said: Mapping[str, Any] | None) -> bool:
    print(f"{name}, {found['sentences']:,} sentences")
    if said is None:
        print("  not in the card")
        return False
    if said["fingerprint"] != found["fingerprint"]:
        print("  another test set than the card's, so figures cannot be compared")
        return False
    if "exact" in found:
        print(f"  exact {found['exact']}   card {said['exact']}")
        return bool(found["exact"] == said["exact"])
    agree = True
    for way in (way for way in ("metrics", "ctranslate2") if way in found and way in said):
        for mine, its in zip(found[way], said[way], strict=True):
            same = mine["signature"] == its["signature"] and abs(mine["score"] - its["score"]) <= TOLERANCE
            verdict, label = "agrees" if same else "DIFFERS", " by CTranslate2" if way != "metrics" else ""
            print(
                f"  {mine['name']:<7}{mine['score']:6.2f}   card {its['score']:6.2f}   {verdict}   "
                f"{mine['signature']}{label}"
            )
            agree = agree and same
    return agree
