"""What is counted while a file is translated: sentences, doubts about them, and what stayed as it was.

Its size does not grow with the file. The tally of a file is that of its chunks, joined in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from regard.translation.translation import Translation

NAMED = 10  # doubtful places that are named
SHOWN = 5  # remarks that are shown


@dataclass
class Tally:
    texts: int = 0
    sentences: int = 0
    doubtful: int = 0  # sentences
    places: int = 0  # where they stand, each counted once
    named: list[str] = field(default_factory=list)  # the first of these places
    reason: str = ""  # to doubt the first of them
    kept: int = 0  # cells or values that were chosen but have no letter
    remarks: int = 0
    shown: list[str] = field(default_factory=list)  # the first remarks
    parsed: bool = False  # whether the rules could parse any text

    def __post_init__(self) -> None:
        self._last = ""  # the doubtful place that was named last

    def add(self, place: str, translation: Translation, first_line: int | None = None) -> list[str]:
        """Count a translation, and return the place of each of its sentences. With `first_line` the text is a stretch
        of a file that begins in this line, and a sentence's place is its line."""
        found, at, line = [], 0, first_line or 0
        for sentence in translation.sentences:
            if first_line is not None:
                line, at = line + translation.source.count("\n", at, sentence.source_span[0]), sentence.source_span[0]
                place = f"line {line}"
            found.append(place)
            self.sentences += 1
            if sentence.reasons:
                self.doubtful += 1
                self.reason = self.reason or str(sentence.reasons[0])
                self._name(place)
        return found

    def _name(self, place: str) -> None:
        if self._last != place and place not in self.named:
            self.places += 1
            self.named = [*self.named, place][:NAMED]
        self._last = place

    def remark(self, line: str) -> None:
        self.remarks += 1
        self.shown = [*self.shown, line][:SHOWN]

    def join(self, later: Tally) -> None:
        """Take in the tally of what follows."""
        for name in ("texts", "sentences", "doubtful", "places", "kept", "remarks"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.named = [*self.named, *later.named][:NAMED]
        self.shown = [*self.shown, *later.shown][:SHOWN]
        self.reason = self.reason or later.reason
        self.parsed = self.parsed or later.parsed

    def to_dict(self) -> dict[str, Any]:
        """
        >>> Tally(texts=3, sentences=4).to_dict()
        {'texts': 3, 'sentences': 4}
        """
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Tally:
        return cls(**values)
