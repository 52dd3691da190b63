"""The interface of a vocabulary: text of one language ↔ ids. A translator has one for each side (`tokenizer.py`).

    learned_vocabulary.py  BPE with byte fallback, whole words or characters: learned here
    sentencepiece.py       the pieces of an imported model

The first ids are PAD, BOS and EOS, which no text is encoded as. A piece is text with spaces written as ▁ (`pieces.py`).
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from regard.text.pieces import SPACE, PieceShape, from_pieces_form, piece_shape, piece_spans, shape_spans
from regard.text.words import Span

SPECIALS = ("<pad>", "<s>", "</s>")  # PAD, BOS, EOS of regard.batch, by position
UNKNOWN = "<unk>"
BYTES = tuple(f"<0x{b:02X}>" for b in range(256))


class Piece(NamedTuple):
    """One token of a text: its vocabulary entry, and its span in the given text."""

    text: str
    start: int
    end: int


class Vocabulary(ABC):
    """A list of pieces, indexed by id."""

    unknown: int | None = None  # the id of <unk>; None if every text can be spelled
    slot_ids: tuple[int, ...] = ()  # of the slots (`slots.py`); not every vocabulary has them

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = list(pieces)
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}

    def __len__(self) -> int:
        return len(self.pieces)

    @cached_property
    @abstractmethod
    def bytes(self) -> list[bytes]:
        """The bytes that each id adds to a text in pieces form; empty for specials and tags."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Returns the ids of each text."""

    @abstractmethod
    def encode_joined(self, text: str) -> list[int]:
        """Returns the ids of a text within a run of characters, without a space before it: homme in l'homme."""

    @abstractmethod
    def encode_with_dropout(self, texts: Sequence[str], rng: random.Random, dropout: float) -> list[list[int]]:
        """Returns the ids of each text, segmented at random."""

    @abstractmethod
    def tokens(self, text: str) -> list[Piece]:
        """Returns the entry of each id of `encode`, and its span in the given text."""

    def spans_in(self, text: str, ids: Sequence[int]) -> list[Span]:
        """Returns the span in the given text of each id of `encode`, which the caller knows."""
        return [(token.start, token.end) for token in self.tokens(text)]

    @abstractmethod
    def spelled(self, texts: Sequence[str]) -> list[list[str]]:
        """Returns the text of each id of `encode`, in pieces form: unknown words as they are written."""

    @abstractmethod
    def stored(self) -> dict[str, Any]:
        """Returns the content of the vocabulary, for a JSON file."""

    def decode(self, ids: Iterable[int]) -> str:
        return from_pieces_form(b"".join(map(self.bytes.__getitem__, ids)))

    def spans(self, ids: Sequence[int]) -> list[Span]:
        """Returns the span of each id in `decode(ids)`; a byte of a character has the whole character's span."""
        if self.are_whole(ids):
            first = self.bytes[ids[0]] if ids else b""
            return shape_spans(map(self._shapes.__getitem__, ids), int(first.startswith(SPACE.encode())))
        return piece_spans([self.bytes[i] for i in ids])

    @cached_property
    def _shapes(self) -> dict[int, PieceShape]:
        shapes = enumerate(map(piece_shape, self.bytes))
        return {i: shape for i, shape in shapes if shape}

    def are_whole(self, ids: Iterable[int]) -> bool:
        """Whether each id stands for text of whole characters, without an escape."""
        return all(map(self._shapes.__contains__, ids))

    def labels(self, ids: Iterable[int], slots: Sequence[str] = ()) -> list[str]:
        """Returns the entries of ids, for display: a slot is shown as its text."""
        filled = dict(zip(self.slot_ids, slots, strict=False))
        return [filled.get(i, self.pieces[i]) for i in ids]
