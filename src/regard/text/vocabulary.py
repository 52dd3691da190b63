"""One vocabulary of pieces: learned from lines, then text → ids by the Rust library `tokenizers`.

The first ids are the specials and, for BPE, the 256 bytes, so that a character never seen is spelled out and nothing
is unknown. The specials are ids only: "<s>" in a text is three ordinary pieces. `tokenizer.py` has both sides, files
and decoding.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from regard.text.bpe import first_drop, merge, merge_from
from regard.text.pieces import CUTS
from regard.text.slots import FIRST_BYTE, SLOT, SLOTS, around_slots

SPECIALS = ("<pad>", "<s>", "</s>")  # PAD, BOS, EOS of regard.batch, by position
UNKNOWN = "<unk>"
BYTES = tuple(f"<0x{b:02X}>" for b in range(256))
COVERAGE = 0.9999  # of all characters; the rest are spelled in bytes
LONGEST_PIECE = 24  # characters

Merges = list[tuple[str, str]]
Encode = Callable[[Sequence[str]], list[list[int]]]


class Vocabulary:
    """Pieces by id and, for BPE, the merges in the order they were learned (None: whole words). The last pieces may be
    tags: like the specials they are ids only, and no text becomes one of them."""

    def __init__(self, pieces: Sequence[str], merges: Merges | None, tags: Sequence[str] = ()) -> None:
        self.pieces, self.merges = list(pieces), merges
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}
        model = (
            models.WordLevel(self.ids, UNKNOWN) if merges is None else models.BPE(self.ids, merges, byte_fallback=True)
        )
        self._rust = _with_cuts(model)
        self._ranks = {pair: i for i, pair in enumerate(merges or [])}
        self._cache: dict[str, tuple[list[int], int]] = {}  # word → ids without dropout, merges it took
        self.bytes = [_bytes_of(i, piece, merges is not None) for i, piece in enumerate(self.pieces)]
        self.bytes[len(self.pieces) - len(tags) :] = [b""] * len(tags)
        first = len(SPECIALS) + FIRST_BYTE
        self.slot_ids = tuple(range(first, first + len(SLOTS))) if merges is not None else ()

    def with_tags(self, tags: Sequence[str]) -> Vocabulary:
        return Vocabulary([*self.pieces, *tags], self.merges, tags) if tags else self

    def __len__(self) -> int:
        return len(self.pieces)

    def cut(self, form: str) -> list[str]:
        """The words of a text in pieces form, before any merge; concatenated they are the text."""
        return [word for word, _ in self._rust.pre_tokenizer.pre_tokenize_str(form)] if form else []

    def labels(self, ids: Iterable[int], slots: Sequence[str] = ()) -> list[str]:
        """The entries of ids, for people: a slot is what it stands for."""
        filled = dict(zip(self.slot_ids, slots, strict=False))
        return [filled.get(i, self.pieces[i]) for i in ids]

    def encode(self, forms: Sequence[str]) -> list[list[int]]:
        """The ids of texts in pieces form. A slot is one id; what stands around it is encoded on its own."""
        return self._around_slots(forms, self._encode)

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
        fast = getattr(self._rust, "encode_batch_fast", self._rust.encode_batch)
        return [encoding.ids for encoding in fast(list(forms), add_special_tokens=False)]

    def encode_with_dropout(self, forms: Sequence[str], rng: random.Random, dropout: float) -> list[list[int]]:
        """BPE-dropout: the same text, segmented differently each time."""
        assert self.merges is not None, "dropout is for BPE"

        def encode(forms: Sequence[str]) -> list[list[int]]:
            return [[i for word in self.cut(form) for i in self._dropped(word, rng, dropout)] for form in forms]

        return self._around_slots(forms, encode)

    def _dropped(self, word: str, rng: random.Random, dropout: float) -> list[int]:
        known = self._cache.get(word)
        if known is None:
            symbols = self.symbols(word)
            ids = [self.ids[s] for s in merge(symbols, self._ranks)]
            known = ids, len(symbols) - len(ids)
            if len(self._cache) < 500_000 and len(word) <= LONGEST_PIECE:
                self._cache[word] = known
        ids, merges = known
        steps = first_drop(rng, dropout)
        if steps >= merges:
            return ids
        return [self.ids[s] for s in merge_from(self.symbols(word), self._ranks, rng, dropout, steps)]

    def symbols(self, word: str) -> list[str]:
        """What merging starts from: characters, and the bytes of characters the vocabulary lacks."""
        return [s for c in word for s in ([c] if c in self.ids else [BYTES[b] for b in c.encode()])]


def learn_bpe(lines: Iterator[str], characters: Counter[str], size: int) -> Vocabulary:
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


def learn_words(lines: Iterator[str], size: int) -> Vocabulary:
    """The most frequent words. A word seen once stays unknown, so that a model meets <unk> in training."""
    trainer = trainers.WordLevelTrainer(
        vocab_size=size, min_frequency=2, show_progress=False, special_tokens=[*SPECIALS, UNKNOWN]
    )
    return _learn(models.WordLevel(unk_token=UNKNOWN), trainer, lines)


def _learn(model: models.Model, trainer: trainers.Trainer, lines: Iterable[str]) -> Vocabulary:
    rust = _with_cuts(model)
    rust.train_from_iterator(lines, trainer)
    learned = json.loads(rust.to_str())["model"]
    pieces = sorted(learned["vocab"], key=learned["vocab"].__getitem__)
    merges = learned.get("merges")
    if merges is None:
        return Vocabulary(pieces, None)
    return Vocabulary(pieces, [tuple(m.split(" ") if isinstance(m, str) else m) for m in merges])


def _with_cuts(model: models.Model) -> tokenizers.Tokenizer:
    rust = tokenizers.Tokenizer(model)
    rust.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(CUTS), "isolated")
    return rust


def _alphabet(characters: Counter[str], most: int) -> list[str]:
    """The frequent characters, until they cover COVERAGE of the text or there are `most` of them."""
    total, covered, alphabet = characters.total(), 0, []
    for character, count in sorted(characters.items(), key=lambda item: (-item[1], item[0]))[:most]:
        if covered >= COVERAGE * total:
            break
        covered += count
        alphabet.append(character)
    return alphabet


def _bytes_of(i: int, piece: str, bpe: bool) -> bytes:
    """What an id adds to a text in pieces form."""
    if i < len(SPECIALS):
        return b""
    if bpe and i < len(SPECIALS) + len(BYTES):
        return bytes([i - len(SPECIALS)])
    return piece.encode() if bpe or piece != UNKNOWN else f"▁{UNKNOWN}".encode()


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
