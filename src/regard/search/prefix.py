"""Forced prefixes: a text that a translation must begin with, as forced tokens and a last word that is completed.

A text may end inside a word, where the model's own tokens would be split elsewhere: "Le ch" continues as ▁Le ▁chat, not
as ▁Le ▁ch at. So the words before the last space are forced as their tokens, and the last one, as far as it is given,
is a constraint on what follows: the next token continues it, or is a part of it.

    Le ch   →   forced ▁Le, then any of ▁chat ▁chien ▁chez …, or ▁c and after it any token that begins with h
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from regard.errors import InputError
from regard.search.constraints import NOTHING, Kinds
from regard.text.pieces import SPACE, from_pieces_form, nfc, to_pieces_form
from regard.text.slots import SLOT
from regard.text.tokenizer import Tokenizer

LONGEST_OPEN = 16  # characters at the end of a text without spaces that are not forced
CACHED = 256  # sets of forbidden tokens


class ForcedStart(NamedTuple):
    """The forced first tokens, and the text that the tokens after them must begin with."""

    ids: tuple[int, ...] = ()
    rest: bytes = b""  # in pieces form


NO_START = ForcedStart()


class PieceTable:
    """Finds the tokens of a vocabulary that continue a text."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces
        self._ordered = sorted((piece, i) for i, piece in enumerate(pieces) if piece)
        self._ids: dict[bytes, list[int]] = defaultdict(list)
        for piece, i in self._ordered:
            self._ids[piece].append(i)
        self.lengths = np.array([len(piece) for piece in pieces], dtype=np.int32)
        self._longest = int(self.lengths.max(initial=0))
        self._forbidden: dict[bytes, frozenset[int]] = {}

    def continuing(self, rest: bytes) -> frozenset[int]:
        """Returns the tokens that begin with `rest`, and those that are a prefix of it.

        >>> sorted(PieceTable([b"", b"a", b"ab", b"abc", b"b", b"ac"]).continuing(b"ab"))
        [1, 2, 3]
        """
        found = {i for n in range(1, min(len(rest), self._longest + 1)) for i in self._ids.get(rest[:n], ())}
        for piece, i in self._ordered[bisect_left(self._ordered, (rest, -1)) :]:
            if not piece.startswith(rest):
                break
            found.add(i)
        return frozenset(found)

    def forbidden(self, rest: bytes) -> frozenset[int]:
        if rest not in self._forbidden:
            if len(self._forbidden) >= CACHED:
                self._forbidden.clear()
            self._forbidden[rest] = frozenset(range(len(self.pieces))) - self.continuing(rest)
        return self._forbidden[rest]

    def can_spell(self, rest: bytes) -> bool:
        """Whether some sequence of tokens spells a text that begins with `rest`."""
        waiting, seen = [0], {0}
        while waiting:
            at = waiting.pop()
            for i in self.continuing(rest[at:]):
                end = at + len(self.pieces[i])
                if end >= len(rest):
                    return True
                if end not in seen:
                    seen.add(end)
                    waiting.append(end)
        return not rest


@dataclass(frozen=True)
class Begins:
    """A constraint (`constraints.py`): after `skip` forced tokens, the text must continue with `rest`.

    >>> begins = Begins(PieceTable([b"", b"a", b"ab", b"abc", b"b", b"ac"]), b"ab", skip=1).after(4)
    >>> sorted(begins.forbidden()), sorted(begins.after(1).forbidden()), sorted(begins.after(3).forbidden())
    ([0, 4, 5], [0, 1, 2, 3, 5], [])
    """

    table: PieceTable
    rest: bytes
    skip: int = 0
    needs = margin = met = 0
    yields = False

    def forbidden(self) -> frozenset[int]:
        return self.table.forbidden(self.rest) if self.rest and not self.skip else NOTHING

    def wanted(self) -> frozenset[int]:
        return NOTHING

    def after(self, token: int) -> Begins:
        if self.skip:
            return replace(self, skip=self.skip - 1)
        return replace(self, rest=self.rest[len(self.table.pieces[token]) :]) if self.rest else self

    def kinds(self, size: int) -> Kinds:
        return np.minimum(self.table.lengths, len(self.rest))


class PrefixReader:
    """Converts prefixes to forced starts for one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def table(self) -> PieceTable:
        return PieceTable(self.tokenizer.target.bytes)

    def start(self, text: str, most: int) -> ForcedStart:
        """Returns the forced start of a text. `most`: the maximal tokens of a translation. Raises InputError."""
        text = nfc(text)
        head, rest = _cut(text)
        (ids,) = self.tokenizer.encode_target([head])
        if len(ids) + bool(rest) > most:
            raise InputError(
                f"prefix must have at most {most} tokens, which is all that a translation may have, but has more than "
                f"{len(ids)}; give a shorter one"
            )
        if self.tokenizer.unknown in ids or not self.table.can_spell(rest):
            raise InputError(f'prefix must be of words that the model knows, but "{text}" is not; give another one')
        return ForcedStart(tuple(ids), rest)

    def constraint(self, start: ForcedStart) -> Begins | None:
        return Begins(self.table, start.rest, len(start.ids)) if start.rest else None

    def text(self, start: ForcedStart) -> str:
        """Returns the text of a forced start."""
        forced = [self.tokenizer.target.bytes[i] for i in start.ids]
        return from_pieces_form(b"".join([*forced, start.rest]))

    def after(self, start: ForcedStart, token: int) -> ForcedStart:
        """Returns the start extended by one token."""
        return ForcedStart((*start.ids, token), start.rest[len(self.table.pieces[token]) :])


def _cut(text: str) -> tuple[str, bytes]:
    """Splits a prefix into the forced text and the rest, in pieces form, that is only a constraint.

    >>> _cut("Le ch"), _cut("Le chat "), _cut("")
    (('Le', b'\\xe2\\x96\\x81ch'), ('Le chat', b'\\xe2\\x96\\x81'), ('', b''))
    """
    if not text:
        return "", b""
    space = text.rfind(" ")
    slot = max((found.end() for found in SLOT.finditer(text)), default=0)
    at = max(len(text) - LONGEST_OPEN, slot)
    if space >= at or (space < 0 and at <= 0):  # at the last space, or at the beginning
        return text[: max(space, 0)], (to_pieces_form(text[space + 1 :]) or SPACE).encode()
    return text[:at], to_pieces_form(text[at:]).removeprefix(SPACE).encode()
