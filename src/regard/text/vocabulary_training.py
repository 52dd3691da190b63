"""Learning a vocabulary from lines of text: BPE, whole words, or characters, by the Rust library `tokenizers`.

A vocabulary's alphabet depends on every character of a corpus. Counting them with a `Counter` per line would take most
of the learning time; numpy counts the code points of joined lines in a twentieth of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from regard.errors import InputError
from regard.text.learned_vocabulary import MAX_PIECE, LearnedVocabulary
from regard.text.pieces import CUTS, SPACE, nfc, to_pieces_form
from regard.text.slots import without_slots
from regard.text.vocabulary import BYTES, SPECIALS, UNKNOWN

COVERAGE = 0.9999  # of all characters; the rest are spelled in bytes
LINE_END = "\n"  # joins lines: NFC composes nothing with it


class CharacterCounts:
    """Counts the characters of lines in pieces form, without slots.

    >>> counts = CharacterCounts()
    >>> counts.add(["Le chat", "", "dort"])
    >>> sorted(counts.counter().items())[:3], counts.counter()["▁"]
    ([('L', 1), ('a', 1), ('c', 1)], 3)
    """

    def __init__(self) -> None:
        self._counts = np.zeros(0, np.int64)  # by code point

    def add(self, lines: Sequence[str]) -> None:
        text = LINE_END.join(lines)
        plain = without_slots(text)
        if plain is not text:  # a line of only slots becomes empty
            lines = [without_slots(line) for line in lines]
        try:
            form = to_pieces_form(nfc(plain))
        except InputError:
            for line in lines:  # raises an error with the position in its line
                nfc(line)
            raise
        found = np.bincount(np.frombuffer(form.encode("utf-32-le"), np.uint32), minlength=ord(SPACE) + 1)
        if found.any():  # each non-empty line begins with a space, the joined lines have only one
            found[ord(SPACE)] += sum(map(bool, lines)) - 1
            found[ord(LINE_END)] -= len(lines) - 1
        longer, shorter = sorted((self._counts, found), key=len, reverse=True)
        self._counts = longer.copy()
        self._counts[: len(shorter)] += shorter

    def counter(self) -> Counter[str]:
        return Counter({chr(code): int(self._counts[code]) for code in np.flatnonzero(self._counts)})


def learn_bpe(lines: Iterator[str], characters: Counter[str], size: int) -> LearnedVocabulary:
    """Learns BPE from lines in pieces form. `characters`: how often each character occurs in them."""
    alphabet = _alphabet(characters, most=(size - len(SPECIALS) - len(BYTES)) // 2)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        show_progress=False,
        special_tokens=[*SPECIALS, *BYTES],
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        max_token_length=MAX_PIECE,
    )
    return _learn(models.BPE(byte_fallback=True), trainer, lines)


def character_vocabulary(characters: Counter[str], size: int) -> LearnedVocabulary:
    """Makes a vocabulary of frequent characters, like BPE without merges; others are spelled in bytes. `size` is the
    maximal size: a text with fewer characters gives a smaller vocabulary."""
    start = [*SPECIALS, *BYTES]
    return LearnedVocabulary([*start, *_alphabet(characters, most=size - len(start))], [])


def learn_words(lines: Iterator[str], size: int) -> LearnedVocabulary:
    """Learns the most frequent words. Words seen once are left out, so that <unk> occurs in training."""
    trainer = trainers.WordLevelTrainer(
        vocab_size=size, min_frequency=2, show_progress=False, special_tokens=[*SPECIALS, UNKNOWN]
    )
    return _learn(models.WordLevel(unk_token=UNKNOWN), trainer, lines)


def _learn(model: models.Model, trainer: trainers.Trainer, lines: Iterable[str]) -> LearnedVocabulary:
    rust = tokenizers.Tokenizer(model)
    rust.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(CUTS), "isolated")
    rust.train_from_iterator(lines, trainer)
    learned = json.loads(rust.to_str())["model"]
    pieces = sorted(learned["vocab"], key=learned["vocab"].__getitem__)
    merges = learned.get("merges")
    if merges is not None:
        merges = [tuple(pair.split(" ") if isinstance(pair, str) else pair) for pair in merges]
    return LearnedVocabulary(pieces, merges)


def _alphabet(characters: Counter[str], most: int) -> list[str]:
    """Returns the most frequent characters that cover COVERAGE of the text, at most `most` of them."""
    total, covered, alphabet = characters.total(), 0, []
    for character, count in sorted(characters.items(), key=lambda item: (-item[1], item[0]))[:most]:
        if covered >= COVERAGE * total:
            break
        covered += count
        alphabet.append(character)
    return alphabet
