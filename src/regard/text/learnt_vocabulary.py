"""A vocabulary learnt from lines, then text → ids by the Rust library `tokenizers`.

The first ids are the specials and, for BPE, the 256 bytes, so that a character never seen is spelled out and nothing
is unknown. The specials are ids only: "<s>" in a text is three ordinary pieces. `tokenizer.py` has both sides.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from regard.text.bpe import first_drop, merge, merge_from
from regard.text.normalize import nfc, nfc_origins
from regard.text.pieces import CUTS, SPACE, piece_spans, to_pieces_form
from regard.text.slots import FIRST_BYTE, SLOT, SLOTS, around_slots
from regard.text.vocabulary import BYTES, SPECIALS, UNKNOWN, Piece, Vocabulary

COVERAGE = 0.9999  # of all characters; the rest are spelled in bytes
LONGEST_PIECE = 24  # characters
REMEMBERED = 500_000  # words
LONGEST_REMEMBERED = 40  # characters

_CUTTER = pre_tokenizers.Split(tokenizers.Regex(CUTS), "isolated")

T = TypeVar("T")
Merges = list[tuple[str, str]]
Encode = Callable[[Sequence[str]], list[list[int]]]


class Remembered(dict[str, list[T]]):
    """What a function gives for a word with a space before it, computed when the word is first looked up."""

    def __init__(self, compute: Callable[[str], list[T]]) -> None:
        super().__init__()
        self.compute = compute

    def __missing__(self, word: str) -> list[T]:
        found = self.compute(SPACE + word)
        if len(self) < REMEMBERED and len(word) <= LONGEST_REMEMBERED:
            self[word] = found
        return found


class LearntVocabulary(Vocabulary):
    """Pieces by id and, for BPE, the merges in the order they were learned (None: whole words). The last pieces may be
    tags: like the specials they are ids only, and no text becomes one of them."""

    def __init__(self, pieces: Sequence[str], merges: Merges | None, tags: Sequence[str] = ()) -> None:
        super().__init__(pieces)
        self.merges, self._tags = merges, len(tags)
        model = (
            models.WordLevel(self.ids, UNKNOWN) if merges is None else models.BPE(self.ids, merges, byte_fallback=True)
        )
        self._rust = _with_cuts(model)
        self._ids_of = Remembered(self._rust_ids)
        self._words_of = Remembered(self._rust_words)
        self._cache: dict[str, tuple[list[int], int]] = {}  # word → ids without dropout, merges it took
        first = len(SPECIALS) + FIRST_BYTE
        self.slot_ids = tuple(range(first, first + len(SLOTS))) if merges is not None else ()
        self.unknown = len(SPECIALS) if merges is None else None

    def __reduce__(self) -> tuple[type[LearntVocabulary], tuple[object, ...]]:
        """Sent to another process without what it remembers."""
        return LearntVocabulary, (self.pieces, self.merges, self.pieces[len(self.pieces) - self._tags :])

    def with_tags(self, tags: Sequence[str]) -> LearntVocabulary:
        return LearntVocabulary([*self.pieces, *tags], self.merges, tags) if tags else self

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
        """A slot is one id; what stands around it is encoded on its own."""
        return self._around_slots([to_pieces_form(nfc(text)) for text in texts], self._encode)

    def encode_joined(self, text: str) -> list[int]:
        return self._around_slots([to_pieces_form(nfc(text)).removeprefix(SPACE)], self._encode)[0]

    def spelled(self, texts: Sequence[str]) -> list[list[str]]:
        if self.merges is None:
            return [self.cut(to_pieces_form(nfc(text))) for text in texts]
        return [[self.pieces[i] for i in ids] for ids in self.encode(texts)]

    def tokens(self, text: str) -> list[Piece]:
        (ids,) = self.encode([text])
        words = None if self.unknown is None else self.spelled([text])[0]  # an unknown word keeps its span
        parts = [self.bytes[i] for i in ids] if words is None else [word.encode() for word in words]
        spans = piece_spans(parts)
        if nfc(text) == text:  # the usual case: every character comes from itself
            firsts = [min(start, len(text)) for start, _ in spans]
            lasts = [end if end > start else first for first, (start, end) in zip(firsts, spans, strict=True)]
            return [Piece(self.pieces[i], *span) for i, *span in zip(ids, firsts, lasts, strict=True)]
        origins = nfc_origins(text)
        tokens = []
        for i, (start, end) in zip(ids, spans, strict=True):
            first = origins[start][0] if start < len(origins) else len(text)
            last = origins[end - 1][1] if end > start else first
            tokens.append(Piece(self.pieces[i], first, last))
        return tokens

    def cut(self, form: str) -> list[str]:
        """The words of a text in pieces form, before any merge; concatenated they are the text."""
        return self._looked_up([form], self._words_of)[0]

    def _looked_up(self, forms: Sequence[str], of_word: Remembered[T]) -> list[list[T]]:
        """What `of_word` has for the words of each form, one after another. No cut (`CUTS`) reaches from before a space
        to after it, so each part between spaces is looked up on its own: most occurred before, and to cut a word and
        merge its characters takes a hundred times as long. Where spaces follow each other, or none begins the form, it
        is computed as a whole."""
        return [
            [found for word in form.split(SPACE)[1:] for found in of_word[word]]
            if form.startswith(SPACE) and not form.endswith(SPACE) and SPACE + SPACE not in form
            else of_word.compute(form)
            for form in forms
        ]

    def _rust_ids(self, form: str) -> list[int]:
        ids: list[int] = self._rust.encode(form, add_special_tokens=False).ids
        return ids

    def _rust_words(self, form: str) -> list[str]:
        return cut_words(form)

    def _around_slots(self, forms: Sequence[str], encode: Encode) -> list[list[int]]:
        if not self.slot_ids or not any(map(SLOT.search, forms)):
            return encode(forms)
        cut = [around_slots(form) for form in forms]
        stretches = iter(encode([stretch for stretches, _ in cut for stretch in stretches]))
        rows = []
        for _, slots in cut:
            row = [*next(stretches)]
            for slot in slots:
                row += [self.slot_ids[slot], *next(stretches)]
            rows.append(row)
        return rows

    def _encode(self, forms: Sequence[str]) -> list[list[int]]:
        return self._looked_up(forms, self._ids_of)

    def encode_with_dropout(self, texts: Sequence[str], rng: random.Random, dropout: float) -> list[list[int]]:
        """BPE-dropout."""
        assert self.merges is not None, "dropout is for BPE"

        def encode(forms: Sequence[str]) -> list[list[int]]:
            cut = self._looked_up(forms, self._words_of)
            return [[i for word in words for i in self._dropped(word, rng, dropout)] for words in cut]

        return self._around_slots([to_pieces_form(nfc(text)) for text in texts], encode)

    def _dropped(self, word: str, rng: random.Random, dropout: float) -> list[int]:
        known = self._cache.get(word)
        if known is None:
            symbols = self.symbols(word)
            ids = [self.ids[s] for s in merge(symbols, self._ranks)]
            known = ids, len(symbols) - len(ids)
            if len(self._cache) < REMEMBERED and len(word) <= LONGEST_PIECE:
                self._cache[word] = known
        ids, merges = known
        steps = first_drop(rng, dropout)
        if steps >= merges:
            return ids
        return [self.ids[s] for s in merge_from(self.symbols(word), self._ranks, rng, dropout, steps)]

    def symbols(self, word: str) -> list[str]:
        """What merging starts from: characters, and the bytes of characters the vocabulary lacks."""
        return [s for c in word for s in ([c] if c in self.ids else [BYTES[b] for b in c.encode()])]


def learn_bpe(lines: Iterator[str], characters: Counter[str], size: int) -> LearntVocabulary:
    """BPE over lines in pieces form. `characters` says how often each character occurs in them."""
    alphabet = _alphabet(characters, most=(size - len(SPECIALS) - len(BYTES)) // 2)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        show_progress=False,
        special_tokens=[*SPECIALS, *BYTES],
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        max_token_length=LONGEST_PIECE,
    )
    return _learn(models.BPE(byte_fallback=True), trainer, lines)


def characters_alone(characters: Counter[str], size: int) -> LearntVocabulary:
    """Every frequent character is a piece of its own, as for BPE without merges; others are spelled in bytes. `size` is
    the most that it may have: a text with fewer characters gives a smaller vocabulary."""
    start = [*SPECIALS, *BYTES]
    return LearntVocabulary([*start, *_alphabet(characters, most=size - len(start))], [])


def learn_words(lines: Iterator[str], size: int) -> LearntVocabulary:
    """The most frequent words. A word seen once stays unknown, so that a model meets <unk> in training."""
    trainer = trainers.WordLevelTrainer(
        vocab_size=size, min_frequency=2, show_progress=False, special_tokens=[*SPECIALS, UNKNOWN]
    )
    return _learn(models.WordLevel(unk_token=UNKNOWN), trainer, lines)


def _learn(model: models.Model, trainer: trainers.Trainer, lines: Iterable[str]) -> LearntVocabulary:
    rust = _with_cuts(model)
    rust.train_from_iterator(lines, trainer)
    learned = json.loads(rust.to_str())["model"]
    pieces = sorted(learned["vocab"], key=learned["vocab"].__getitem__)
    merges = learned.get("merges")
    if merges is None:
        return LearntVocabulary(pieces, None)
    return LearntVocabulary(pieces, [tuple(m.split(" ") if isinstance(m, str) else m) for m in merges])


def _with_cuts(model: models.Model) -> tokenizers.Tokenizer:
    rust = tokenizers.Tokenizer(model)
    rust.pre_tokenizer = _CUTTER
    return rust


def cut_words(form: str) -> list[str]:
    """The words of a text in pieces form, by the cuts that every learnt vocabulary has.

    >>> cut_words("▁the▁cat's▁mat.")
    ['▁the', '▁cat', "'s", '▁mat', '.']
    """
    return [word for word, _ in _CUTTER.pre_tokenize_str(form)] if form else []


def _alphabet(characters: Counter[str], most: int) -> list[str]:
    """The frequent characters, until they cover COVERAGE of the text or there are `most` of them."""
    total, covered, alphabet = characters.total(), 0, []
    for character, count in sorted(characters.items(), key=lambda item: (-item[1], item[0]))[:most]:
        if covered >= COVERAGE * total:
            break
        covered += count
        alphabet.append(character)
    return alphabet


def _quiet_forks() -> None:
    """The Rust threads do not survive a fork: a child process encodes without them, and no warning is printed."""
    name, before = "TOKENIZERS_PARALLELISM", []

    def set_off() -> None:
        before.append(os.environ.get(name))
        os.environ[name] = "false"

    def restore() -> None:
        value = before.pop()
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=set_off, after_in_parent=restore)


_quiet_forks()
