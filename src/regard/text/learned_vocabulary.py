"""A vocabulary learned from text (`vocabulary_training.py`): text → ids, by merging (`bpe.py`) or word by word.

The first ids are the specials and, for BPE, the 256 bytes, so that unseen characters are spelled in bytes and nothing
is unknown. No text is encoded as a special: "<s>" in a text is three ordinary pieces.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from regard.text.bpe import first_drop, merge_by_heap, merge_from
from regard.text.pieces import SPACE, nfc, nfc_origins, piece_spans, pretokenize, to_pieces_form
from regard.text.slots import FIRST_BYTE, SLOT, SLOTS, around_slots
from regard.text.vocabulary import BYTES, SPECIALS, UNKNOWN, Piece, Vocabulary
from regard.text.words import Span

MAX_PIECE = 24  # characters
MAX_CACHED_WORDS, MAX_CACHED_WORD = 500_000, 40  # words, and characters of one

T = TypeVar("T")
Merges = list[tuple[str, str]]


class WordCache(dict[str, list[T]]):
    """The results of a function for words with a space before them, and for words without, whose key begins with one;
    computed on first lookup."""

    def __init__(self, compute: Callable[[str], list[T]]) -> None:
        super().__init__()
        self.compute = compute

    def __missing__(self, word: str) -> list[T]:
        found = self.compute(word[1:] if word.startswith(SPACE) else SPACE + word)
        if len(self) < MAX_CACHED_WORDS and len(word) <= MAX_CACHED_WORD:
            self[word] = found
        return found

    def __call__(self, forms: Sequence[str]) -> list[list[T]]:
        """Returns the results for the words of each text in pieces form, concatenated. No match of `CUTS` extends over
        a single space, so each part between spaces is looked up separately: most occurred before, and splitting a word
        and merging its characters takes a hundred times as long."""
        rows = []
        for form in forms:
            if SPACE + SPACE in form:
                rows.append(self.compute(form))
                continue
            joined, *words = form.split(SPACE)
            row = [*self[SPACE + joined]] if joined else []
            rows.append(row + [found for word in words for found in self[word]])
        return rows


class LearnedVocabulary(Vocabulary):
    """Pieces by id and, for BPE, the merges in the order they were learned (None: whole words). The last pieces may be
    tags: as with the specials, no text is encoded as one of them."""

    def __init__(self, pieces: Sequence[str], merges: Merges | None, tags: Sequence[str] = ()) -> None:
        super().__init__(pieces)
        self.merges, self._tags = merges, len(tags)
        if merges is None:
            self.unknown = len(SPECIALS)
        else:
            first = len(SPECIALS) + FIRST_BYTE
            self.slot_ids = tuple(range(first, first + len(SLOTS)))
        self._word_ids = WordCache[int](lambda form: [i for word in pretokenize(form) for i in self._merge(word)])
        self._words = WordCache(pretokenize)
        self._merged: dict[str, tuple[list[int], int]] = {}  # word → ids without dropout, number of merges

    def __reduce__(self) -> tuple[type[LearnedVocabulary], tuple[object, ...]]:
        """Pickles the vocabulary without its caches."""
        return LearnedVocabulary, (self.pieces, self.merges, self.pieces[len(self.pieces) - self._tags :])

    def with_tags(self, tags: Sequence[str]) -> LearnedVocabulary:
        return LearnedVocabulary([*self.pieces, *tags], self.merges, tags) if tags else self

    @cached_property
    def _ranks(self) -> dict[tuple[str, str], int]:
        return {pair: i for i, pair in enumerate(self.merges or [])}

    @cached_property
    def bytes(self) -> list[bytes]:
        words = [piece.encode() for piece in self.pieces]
        words[: len(SPECIALS)] = [b""] * len(SPECIALS)
        if self.unknown is not None:
            words[self.unknown] = f"{SPACE}{UNKNOWN}".encode()
        else:
            words[len(SPECIALS) : len(SPECIALS) + len(BYTES)] = [bytes([byte]) for byte in range(len(BYTES))]
        return words[: len(words) - self._tags] + [b""] * self._tags

    def stored(self) -> dict[str, Any]:
        return {"pieces": self.pieces, "merges": self.merges}

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Encodes texts. A slot is one id; the text around it is encoded separately."""
        return self._encode_around_slots([to_pieces_form(nfc(text)) for text in texts], self._word_ids)

    def encode_joined(self, text: str) -> list[int]:
        return self._encode_around_slots([to_pieces_form(nfc(text)).removeprefix(SPACE)], self._word_ids)[0]

    def spelled(self, texts: Sequence[str]) -> list[list[str]]:
        if self.merges is None:
            return self._words([to_pieces_form(nfc(text)) for text in texts])
        return [[self.pieces[i] for i in ids] for ids in self.encode(texts)]

    def tokens(self, text: str) -> list[Piece]:
        (ids,) = self.encode([text])
        return [Piece(self.pieces[i], *span) for i, span in zip(ids, self.spans_in(text, ids), strict=True)]

    def spans_in(self, text: str, ids: Sequence[int]) -> list[Span]:
        if self.unknown is None:
            spans = self.spans(ids)
        else:  # an unknown word has its own span
            spans = piece_spans([word.encode() for word in self.spelled([text])[0]])
        if text.isascii() or nfc(text) == text:  # the usual case
            if self.unknown is None and self.are_whole(ids):
                return spans
            length = len(text)
            return [(start, end) if start < end else (min(start, length),) * 2 for start, end in spans]
        origins = nfc_origins(text)
        found: list[Span] = []
        for start, end in spans:
            first = origins[start][0] if start < len(origins) else len(text)
            found.append((first, origins[end - 1][1] if end > start else first))
        return found

    def _encode_around_slots(
        self, forms: Sequence[str], encode: Callable[[Sequence[str]], list[list[int]]]
    ) -> list[list[int]]:
        if not self.slot_ids or not any(map(SLOT.search, forms)):
            return encode(forms)
        split = [around_slots(form) for form in forms]
        encoded = iter(encode([part for parts, _ in split for part in parts]))
        rows = []
        for _, slots in split:
            row = [*next(encoded)]
            for slot in slots:
                row += [self.slot_ids[slot], *next(encoded)]
            rows.append(row)
        return rows

    def encode_with_dropout(self, texts: Sequence[str], rng: random.Random, dropout: float) -> list[list[int]]:
        """Encodes texts with BPE-dropout."""
        assert self.merges is not None, "dropout is for BPE"

        def encode(forms: Sequence[str]) -> list[list[int]]:
            return [[i for word in words for i in self._dropped(word, rng, dropout)] for words in self._words(forms)]

        return self._encode_around_slots([to_pieces_form(nfc(text)) for text in texts], encode)

    def _dropped(self, word: str, rng: random.Random, dropout: float) -> list[int]:
        known = self._merged.get(word)
        if known is None:
            ids = self._merge(word)
            known = ids, len(self.symbols(word)) - len(ids)
            if len(self._merged) < MAX_CACHED_WORDS and len(word) <= MAX_PIECE:
                self._merged[word] = known
        ids, merges = known
        steps = first_drop(rng, dropout)
        if steps >= merges:
            return ids
        return [self.ids[s] for s in merge_from(self.symbols(word), self._ranks, rng, dropout, steps)]

    def _merge(self, word: str) -> list[int]:
        if self.unknown is not None:
            return [self.ids.get(word, self.unknown)]
        return [self.ids[symbol] for symbol in merge_by_heap(self.symbols(word), self._ranks)]

    def symbols(self, word: str) -> list[str]:
        """Returns the initial symbols of merging: characters, and the bytes of characters outside the vocabulary."""
        return [s for c in word for s in ([c] if c in self.ids else [BYTES[b] for b in c.encode()])]
