"""Conversion between text and the pieces of a vocabulary: NFC, visible spaces, pre-tokenization, and back.

A text is normalized to Unicode NFC, so that "é" is one character however it was typed; nothing else is changed. A space
is written ▁ and belongs to the word after it; one ▁ is put before the text, so that a word is the same piece at the
start of a sentence and inside it. A literal ▁ is escaped, so that every string is restored exactly. Pre-tokenization
is fixed here, before any vocabulary is learned: punctuation, digits and French elisions are never merged with a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import regex

from regard.errors import InputError
from regard.text.slots import FIRST_BYTE, FROM_BROKEN
from regard.text.words import Span

SPACE = "▁"
# A literal ▁ is written ESCAPE ONE, a literal ESCAPE is written ESCAPE ZERO: rare private-use characters.
ESCAPE, ZERO, ONE = "\uf8f0", "\uf8f1", "\uf8f2"

# First match wins. Learning gives it to the Rust library, whose Oniguruma reads it alike.
CUTS = (
    r"(?:▁|(?<![\p{L}\p{M}\p{N}]))(?i:[cdjlmnst]|(?:lors|puis|jus|quoi)?qu)['’](?=\p{L})"  # ▁l'  ▁qu'
    r"|['’](?i:s|t|re|ve|m|ll|d)(?![\p{L}\p{M}])"  # didn 't, she 'll
    r"|▁?[\p{L}\p{M}]+"  # ▁chat
    r"|▁?\p{N}"  # digits one by one
    r"|▁?([^▁\p{L}\p{M}\p{N}])\1*"  # . , ! … and runs of one sign: ... --
    r"|▁+(?=▁)|▁"  # further spaces
)

_CUTS = regex.compile(CUTS)
_UNIT = re.compile(f"{ESCAPE}[{ZERO}{ONE}]|.", re.DOTALL)  # becomes one character of the text
_BROKEN = re.compile("[\udc80-\udcff]")  # a byte that is not part of a character


def nfc(text: str) -> str:
    """Returns the text in NFC. Raises InputError for a lone surrogate."""
    if text.isascii():
        return text
    check_characters(text)
    return unicodedata.normalize("NFC", text)


def check_characters(text: str) -> None:
    """Raises InputError for a lone surrogate: half a character, never valid in a file."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"text holds a lone surrogate (U+{ord(text[error.start]):04X} at character {error.start + 1}), "
            "which is not text; read it as UTF-8, or remove what is not"
        ) from None


def nfc_origins(text: str) -> list[Span]:
    """Returns the span of `text` that each character of `nfc(text)` came from.

    >>> nfc_origins("e\\u0301t")
    [(0, 2), (2, 3)]
    """
    if unicodedata.is_normalized("NFC", text):
        return [(i, i + 1) for i in range(len(text))]
    origins: list[Span] = []
    for cluster in regex.finditer(r"\X", text):  # composition never reaches beyond a grapheme cluster
        composed = unicodedata.normalize("NFC", cluster.group())
        if composed == cluster.group():
            origins += [(i, i + 1) for i in range(*cluster.span())]
        else:
            origins += [cluster.span()] * len(composed)
    return origins


def to_pieces_form(text: str) -> str:
    """
    >>> to_pieces_form("Le chat.")
    '▁Le▁chat.'
    """
    if ESCAPE in text:
        text = text.replace(ESCAPE, ESCAPE + ZERO)
    if SPACE in text:
        text = text.replace(SPACE, ESCAPE + ONE)
    return SPACE + text.replace(" ", SPACE) if text else ""


def pretokenize(form: str) -> list[str]:
    """Returns the words of a text in pieces form, before any merge; concatenated they are the text.

    >>> pretokenize("▁the▁cat's▁mat.")
    ['▁the', '▁cat', "'s", '▁mat', '.']
    """
    return [found[0] for found in _CUTS.finditer(form)]


def from_pieces_form(raw: bytes) -> str:
    """Returns the text of pieces. The byte of a slot becomes its character; other bytes that form no character (a model
    may produce them) become U+FFFD."""
    try:
        text = raw.decode("utf-8").replace(SPACE, " ")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "surrogateescape").replace(SPACE, " ")
        text = _BROKEN.sub(lambda byte: FROM_BROKEN.get(ord(byte[0]), "\ufffd"), text)
    if ESCAPE in text:
        text = text.replace(ESCAPE + ONE, SPACE).replace(ESCAPE + ZERO, ESCAPE)
    return text.removeprefix(" ")


def piece_spans(pieces: Sequence[bytes]) -> list[Span]:
    """Returns the (start, end) of every piece in `from_pieces_form(b"".join(pieces))`.

    The space before a word is not part of the word's span. A piece that is part of a character has the whole
    character's span; a piece without text has an empty span at its position.

    >>> piece_spans(["▁le".encode(), "▁ch".encode(), b"at", "é".encode()[:1], "é".encode()[1:]])
    [(0, 2), (3, 5), (5, 7), (7, 8), (7, 8)]
    """
    text = b"".join(pieces).decode("utf-8", "surrogateescape")
    shift = int(text.startswith(SPACE))
    units = _UNIT.findall(text)
    index = [i - shift for i, unit in enumerate(units) for _ in unit.encode("utf-8", "surrogateescape")]
    index.append(len(units) - shift)  # byte → unit
    spans: list[Span] = []
    at = 0
    for piece in pieces:
        end = index[at + len(piece) - 1] + 1 if piece else index[at]
        spans.append((max(0, index[at] + begins_word(piece)), max(0, end)))
        at += len(piece)
    return spans


def begins_word(piece: bytes) -> bool:
    """Whether a piece begins with the space before a word."""
    space = SPACE.encode()
    return piece.startswith(space) and bool(piece.strip(space))


class PieceShape(NamedTuple):
    """What determines the span of a piece of whole characters."""

    length: int  # in characters
    space: int  # 1 if the first one is the space before a word


def piece_shape(piece: bytes) -> PieceShape | None:
    """Returns the shape of a piece; None for one without text, with a part of a character or with an escape."""
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        is_slot = len(piece) == 1 and piece[0] >= FIRST_BYTE
        return PieceShape(1, 0) if is_slot else None
    return PieceShape(len(text), int(begins_word(piece))) if text and ESCAPE not in text else None


def shape_spans(shapes: Iterable[PieceShape], shift: int) -> list[Span]:
    """Like `piece_spans`, for pieces that all have a shape. `shift`: 1 if the first one begins with a space."""
    spans: list[Span] = []
    end = -shift
    for length, space in shapes:
        spans.append((end + space, end + length))
        end += length
    if spans and spans[0][0] < 0:  # a space by itself
        spans[0] = 0, max(0, spans[0][1])
    return spans
