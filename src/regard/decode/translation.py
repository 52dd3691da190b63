"""What `translate` returns: the best translation of a line with its scores, and the alternatives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from regard.text.mend import Mended

LINE_BREAK = re.compile(r"\r\n|[\r\n]")


@dataclass(frozen=True, repr=False)
class Candidate:
    """One entry of an n-best list."""

    text: str
    score: float  # the length-normalised log-probability by which the search ranks
    log_prob: float  # log P(text | source), EOS included
    ids: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Candidate({self.text!r}, score={self.score:.4f})"


@dataclass(frozen=True, repr=False)
class Translation:
    """The best candidate's text and scores, and all candidates, best first. `str` gives the text.

    A line longer than the model can read is translated in `parts`: its texts are joined by spaces, its scores added up,
    and it has one candidate. An empty line has none."""

    source: str
    text: str
    score: float
    log_prob: float
    candidates: tuple[Candidate, ...]
    parts: int = 1
    read: str = ""  # the source as the model read it

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __repr__(self) -> str:
        return f"Translation({shortened(self.source)!r} → {shortened(self.text)!r}, score={self.score:.4f})"


def shortened(text: str, most: int = 100) -> str:
    """
    >>> shortened("The cat sleeps.", most=8)
    'The cat…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def in_one_line(text: str) -> str:
    """
    >>> in_one_line("one\\r\\ntwo")
    'one two'
    """
    return LINE_BREAK.sub(" ", text)


def joined_translation(line: str, source: Mended, parts: Sequence[Sequence[Candidate]]) -> Translation:
    """The translation of a line from the n-best list of each of its parts."""
    if not parts:
        return Translation(line, source.restore("") if line.strip() else "", 0.0, 0.0, (), parts=0)
    candidates = tuple(parts[0])
    if len(parts) > 1:
        best = [candidates[0] for candidates in parts]
        ids = tuple(i for c in best for i in c.ids)
        text = " ".join(c.text for c in best)
        candidates = (Candidate(text, sum(c.score for c in best), sum(c.log_prob for c in best), ids),)
    candidates = tuple(replace(candidate, text=source.restore(candidate.text)) for candidate in candidates)
    first = candidates[0]
    return Translation(line, first.text, first.score, first.log_prob, candidates, len(parts), source.read)
