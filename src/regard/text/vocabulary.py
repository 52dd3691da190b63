"""What every vocabulary can do: text of one language ↔ ids. A translator has one for each side (`tokenizer.py`).

    learned_vocabulary.py  BPE with byte fallback, whole words or characters: learned here
    sentencepiece.py       the pieces of an imported model

The first ids are PAD, BOS and EOS, which no text becomes. A piece is text in which a space is written ▁ (`pieces.py`).
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from regard.text.pieces import from_pieces_form, piece_spans
from regard.text.words import Span

SPECIALS = ("<pad>", "<s>", "</s>")  # PAD, BOS, EOS of regard.batch, by position
UNKNOWN = "<unk>"
BYTES = tuple(f"<0x{b:02X}>" for b in range(256))


class Piece(NamedTuple):
    """One token of a text: its vocabulary entry, and where it stands in the text as it was given."""

    text: str
    start: int
    end: int


class Vocabulary(ABC):
    """Pieces by id."""

    unknown: int | None = None  # the id of <unk>; None where every text can be spelled
    slot_ids: tuple[int, ...] = ()  # of the slots (`slots.py`); not every vocabulary has them

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = list(pieces)
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}

    def __len__(self) -> int:
        return len(self.pieces)

    @cached_property
    @abstractmethod
    def bytes(self) -> list[bytes]:
        """What each id adds to a text in pieces form: nothing for specials and tags."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""

    @abstractmethod
    def encode_joined(self, text: str) -> list[int]:
        """The ids of a text as it stands within a run of characters, without a space before it: homme in l'homme."""

    @abstractmethod
    def encode_with_dropout(self, texts: Sequence[str], rng: random.Random, dropout: float) -> list[list[int]]:
        """The same texts, segmented differently each time."""

    @abstractmethod
    def tokens(self, text: str) -> list[Piece]:
        """For each id of `encode` its entry, and where it stands in the text as it was given."""

    @abstractmethod
    def spelled(self, texts: Sequence[str]) -> list[list[str]]:
        """For each id of `encode` what it stands for, in pieces form: an unknown word as it is written."""

    @abstractmethod
    def stored(self) -> dict[str, Any]:
        """What makes it what it is, for a JSON file."""

    def decode(self, ids: Iterable[int]) -> str:
        return from_pieces_form(b"".join(self.bytes[i] for i in ids))

    def spans(self, ids: Sequence[int]) -> list[Span]:
        """For every id its span in `decode(ids)`; a byte of a character has the whole character's span."""
        return piece_spans([self.bytes[i] for i in ids])

    def labels(self, ids: Iterable[int], slots: Sequence[str] = ()) -> list[str]:
        """The entries of ids, for people: a slot is what it stands for."""
        filled = dict(zip(self.slot_ids, slots, strict=False))
        return [filled.get(i, self.pieces[i]) for i in ids]
