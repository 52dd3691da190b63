"""The tokenizer of an imported model: SentencePiece splits the text, a list of pieces gives the ids.

Models in the format of Marian (OPUS-MT) have two SentencePiece models, source.spm and target.spm, and vocab.json, which
has the id of each of their pieces. A piece that vocab.json lacks is <unk>; there is no byte fallback and there are no
slots. Tokenization equals that of `transformers.MarianTokenizer`, with three exceptions: a special written in a text,
such as </s>, is text; >>xyz<< at the beginning is a tag only if the vocabulary has it; and decoding shows <unk> and no
tags. SentencePiece normalizes as its model defines (NFKC, spaces), so decoding does not restore every text.

The ids are in our order (`imported_order`). The SentencePiece model is stored within tokenizer.json, so a tokenizer is
one file. `marian_vocabulary.py` reads and writes the files of Marian.
"""

from __future__ import annotations

import base64
import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from regard.errors import BundleError, InputError
from regard.text.language import LANGUAGE_TAG, leading_tag
from regard.text.pieces import SPACE, check_characters, from_pieces_form, piece_spans
from regard.text.vocabulary import BYTES, SPECIALS, UNKNOWN, Piece, Vocabulary

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

PAD, BOS, EOS = SPECIALS
IMPORTED_BOS = "<s> "  # our name of an imported <s>, never produced by encoding: names of pieces must be unique
# A SentencePiece model is a protocol buffer, and a message that is appended to another is merged into it. This one has
# normalizer_spec (field 3) with add_dummy_prefix (field 3) false. SentencePiece 0.2.3 has no call for it any more.
NO_DUMMY_PREFIX = b"\x1a\x02\x18\x00"


def imported_order(size: int, pad: int, eos: int) -> list[int | None]:
    """Returns for each of our ids the id in an imported vocabulary of this size: PAD is new; BOS is its <pad>, with
    which Marian's decoder starts; then EOS, then all others in order.

    >>> imported_order(5, pad=4, eos=0)
    [None, 4, 0, 1, 2, 3]
    """
    return [None, pad, eos, *(i for i in range(size) if i not in (pad, eos))]


class SentencePieceVocabulary(Vocabulary):
    """A SentencePiece model with its pieces by id."""

    unknown: int

    def __init__(self, model: bytes, pieces: Sequence[str], pad: int, eos: int) -> None:
        """`pieces` are in our order; `pad` and `eos` are their ids in the imported vocabulary."""
        super().__init__(pieces)
        self.model, self.pad, self.eos = model, pad, eos
        self.unknown = self.ids[UNKNOWN]
        self.tags = tuple(piece for piece in self.pieces if LANGUAGE_TAG.fullmatch(piece))
        nothing = {*SPECIALS, IMPORTED_BOS, *self.tags}
        self._of_text = {piece: i for piece, i in self.ids.items() if piece not in nothing}

    @classmethod
    def imported(cls, model: bytes, ids: dict[str, int]) -> SentencePieceVocabulary:
        """Makes a vocabulary from a SentencePiece model and a vocab.json."""
        names = {i: IMPORTED_BOS if piece == BOS else piece for piece, i in ids.items()}
        order = imported_order(len(ids), ids[PAD], ids[EOS])
        return cls(model, [*SPECIALS, *(names[i] for i in order[len(SPECIALS) :] if i is not None)], ids[PAD], ids[EOS])

    @classmethod
    def restored(cls, found: dict[str, Any]) -> SentencePieceVocabulary:
        """Restores a vocabulary from the result of `stored`."""
        pieces = found["pieces"]
        if pieces[: len(SPECIALS)] != [*SPECIALS] or UNKNOWN not in pieces:
            raise ValueError("its specials are not in their places")
        return cls(base64.b64decode(found["model"], validate=True), pieces, int(found["pad"]), int(found["eos"]))

    def stored(self) -> dict[str, Any]:
        model = base64.b64encode(self.model).decode("ascii")
        return {"pieces": self.pieces, "pad": self.pad, "eos": self.eos, "model": model}

    @property
    def imported_ids(self) -> dict[str, int]:
        """The content of vocab.json."""
        order = imported_order(len(self.pieces) - 1, self.pad, self.eos)
        names = [PAD, PAD, *(BOS if piece == IMPORTED_BOS else piece for piece in self.pieces[2:])]
        of_id = {i: name for i, name in zip(order, names, strict=True) if i is not None}
        return {of_id[i]: i for i in range(len(of_id))}

    @cached_property
    def _processor(self) -> SentencePieceProcessor:
        return load_processor(self.model)

    @cached_property
    def _joined_processor(self) -> SentencePieceProcessor:
        """The SentencePiece processor without a space before the text."""
        return load_processor(self.model + NO_DUMMY_PREFIX)

    @cached_property
    def _known(self) -> list[int]:
        """Our id for each id of SentencePiece; <unk> if there is none."""
        processor = self._processor
        names = processor.id_to_piece(list(range(processor.get_piece_size())))
        return [self._of_text.get(name, self.unknown) for name in names]

    @cached_property
    def _single_bytes(self) -> dict[str, bytes]:
        """Pieces that are a single byte of a character, which few of these models have."""
        numbers = {piece: self._processor.piece_to_id(piece) for piece in BYTES}
        return {piece: bytes([b]) for b, piece in enumerate(BYTES) if self._processor.is_byte(numbers[piece])}

    def _spelling(self, piece: str) -> bytes:
        return self._single_bytes.get(piece) or piece.encode()

    @cached_property
    def bytes(self) -> list[bytes]:
        return [self._spelling(piece) if piece in self._of_text else b"" for piece in self.pieces]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Encodes texts. A tag at the beginning of a text is one id."""
        cut = [self._without_tag(text) for text in texts]
        rows = self._processor.encode([text for _, text in cut], out_type=int)
        unknown = self._processor.unk_id()
        found = []
        for (tag, text), row in zip(cut, rows, strict=True):
            # A piece unknown to this side's model may be one of the other side's: then it is looked up by its spelling.
            ids = self._ids(self._processor, text) if unknown in row else [self._known[i] for i in row]
            found.append([self.ids[tag], *ids] if tag else ids)
        return found

    def encode_joined(self, text: str) -> list[int]:
        check_characters(text)
        return self._ids(self._joined_processor, text)

    def encode_with_dropout(self, texts: Sequence[str], rng: random.Random, dropout: float) -> list[list[int]]:
        raise InputError(f"bpe_dropout is {dropout}, but SentencePiece has no merges to drop; set 0")

    def _ids(self, processor: SentencePieceProcessor, text: str) -> list[int]:
        return [self._of_text.get(piece, self.unknown) for piece in processor.encode(text, out_type=str)]

    def _without_tag(self, text: str) -> tuple[str, str]:
        """Returns the tag at the beginning, if the vocabulary has it, and the rest."""
        check_characters(text)
        tag = leading_tag(text, self.ids)
        return tag, text[len(tag) :]

    def spelled(self, texts: Sequence[str]) -> list[list[str]]:
        cut = [self._without_tag(text) for text in texts]
        rows = self._processor.encode([text for _, text in cut], out_type=str)
        return [[tag, *row] if tag else row for (tag, _), row in zip(cut, rows, strict=True)]

    def tokens(self, text: str) -> list[Piece]:
        """Returns pieces with the spans of their original characters; the space before a word is left out. If several
        pieces come from one character, such as 1⁄2 from ½, each has that character's span."""
        tag, rest = self._without_tag(text)
        shift = len(text) - len(rest)
        normal, offsets = self._processor.normalize(rest, with_offsets=True)
        character = [i for i, one in enumerate(normal) for _ in one.encode()]  # byte → character of `normal`
        tokens, at = [Piece(tag, 0, shift)] if tag else [], 0
        for piece in self._processor.encode(rest, out_type=str):
            width = len(self._spelling(piece))
            first, last = character[at], character[at + width - 1]
            first += normal[first] == SPACE and first < last
            start = offsets[first]
            dummy = normal[last] == SPACE and offsets[last + 1] == offsets[last]  # it comes from no character
            end = offsets[last] if dummy else offsets[bisect_right(offsets, offsets[last])]
            name = piece if piece in self._of_text else UNKNOWN
            tokens.append(Piece(name, shift + start, shift + end))
            at += width
        return tokens

    def decode(self, ids: Iterable[int]) -> str:
        return super().decode(ids).strip()

    def spans(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        pieces = [self.bytes[i] for i in ids]
        text = from_pieces_form(b"".join(pieces))
        before, end = len(text) - len(text.lstrip()), len(text.strip())
        return [(min(max(a - before, 0), end), min(max(b - before, 0), end)) for a, b in piece_spans(pieces)]


def load_processor(model: bytes) -> SentencePieceProcessor:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise InputError(
            "this model tokenizes text with SentencePiece, which is not installed: pip install 'regard[marian]'"
        ) from None
    processor = SentencePieceProcessor()
    try:
        processor.load_from_serialized_proto(model)
    except (RuntimeError, OSError):
        raise BundleError("the SentencePiece model of the tokenizer is damaged; import the model again") from None
    return processor
