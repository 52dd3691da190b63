"""Count the files and functions of the package that one sentence passes: `Translator.translate` and POST /translate.

    python tools/house.py --path
    python tools/house.py --path --root DIR

Both are counted with a profile function after calls that warm everything up, in all threads. Comprehensions count as
functions where Python calls them as such (before 3.12).
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any

SENTENCE = "The cat is on the mat."
calls: dict[tuple[str, str], int] = {}
counting = False


def profile(frame: FrameType, event: str, argument: Any) -> None:
    if counting and event == "call" and "/src/regard/" in (file := frame.f_code.co_filename):
        key = (file, frame.f_code.co_qualname)
        calls[key] = calls.get(key, 0) + 1


def count(name: str, work: Any) -> None:
    """Run `work` three times to warm up, then once with counting, and print the figures."""
    global counting
    for _ in range(3):
        work()
    calls.clear()
    counting = True
    sys.setprofile(profile)
    work()
    sys.setprofile(None)
    counting = False
    files = {file for file, _ in calls}
    print(f"{name:<22}{len(files):>4} files {len(calls):>5} functions {sum(calls.values()):>7,} calls")


def main() -> None:
    threading.setprofile(profile)  # before any thread begins: those of a server live as long as it does
    import regard

    translator = regard.load("en-fr", device="cpu")
    count("Translator.translate", lambda: translator.translate(SENTENCE))

    from starlette.testclient import TestClient

    from regard.serve.app import create_app
    from regard.serve.settings import ServeConfig

    body = {"q": SENTENCE, "source": "en", "target": "fr"}
    with TestClient(create_app(ServeConfig(models=("en-fr",))), base_url="http://127.0.0.1") as client:
        count("POST /translate", lambda: client.post("/translate", json=body).raise_for_status())


if __name__ == "__main__":
    main()
