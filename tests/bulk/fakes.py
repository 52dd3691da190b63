"""A translator that takes no time: it writes capitals, and doubts sentences with the word "odd"."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from regard.translation.translation import Candidate, Reason, SentenceTranslation, Translation

STRANGE = Reason("loop", "It is odd.")


class Shouting:
    """What `bulk` needs of a `TextTranslator`."""

    rule_system = bundle = converted = None
    engine_name, on_gpu = "none", False

    def __init__(
        self,
        folders: Sequence[Path] = (),
        before: Callable[[Sequence[str]], None] | None = None,
        keep: bool = True,
    ) -> None:
        self.folders, self.before, self.keep = list(folders), before, keep
        self.load_options: dict[str, str] = {}
        self.seen: list[str] = []

    def translate(self, texts: Sequence[str], **options: Any) -> list[Translation]:
        if self.before:
            self.before(texts)
        self.seen += texts if self.keep else ()
        return [shouted(text) for text in texts]


def shouted(text: str) -> Translation:
    new = text.upper()
    reasons = (STRANGE,) if "odd" in text else ()
    spans = ((0, len(text)), (0, len(new)))
    sentence = SentenceTranslation(text, new, *spans, text, reasons=reasons, alignment=(spans,))
    candidate = Candidate(new, -0.5, -1.0, ())
    return Translation(text, new, -0.5, -1.0, (candidate,), (sentence,) if text.strip() else ())


def make_shouting(number: int) -> Shouting:
    """In a worker: the second waits, so that results come out of order."""
    return Shouting(before=lambda texts: time.sleep(0.05 * (number == 1)))


def make_dying(number: int) -> Shouting:
    """In a worker: the text "die" kills the process."""
    return Shouting(before=lambda texts: os.kill(os.getpid(), 9) if "die" in texts else None)


def make_refusing(number: int) -> Shouting:
    from regard.errors import InputError

    def before(texts: Sequence[str]) -> None:
        if "bad" in texts:
            raise InputError("this text is bad")

    return Shouting(before=before)
