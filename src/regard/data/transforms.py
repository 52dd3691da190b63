"""Random changes to training text that make a model more robust, different in each epoch: case, typos and dropped words
in the source, two neighbouring pairs as one example.

Case changes on both sides, so that a model learns to keep it. Noise is for the source alone (Belinkov and Bisk 2018).
Joined pairs (Kondo et al. 2021) teach sentences longer than any in the corpus. All randomness comes from the given
generator, so that an epoch can be made again. Each epoch needs a new encoding of the corpus, as with BPE-dropout; with
every probability at 0 nothing here is called.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from regard.data.corpus import DataConfig
from regard.data.filters import Numbered

WORD = re.compile(r"\S+")
CASES: tuple[Callable[[str], str], ...] = (
    str.lower,
    str.upper,
    lambda text: WORD.sub(lambda word: word[0][:1].upper() + word[0][1:].lower(), text),
)


def transformed(texts: Sequence[Numbered], config: DataConfig, rng: random.Random) -> list[Numbered]:
    """Each pair in its form for this epoch."""
    return [(number, *change_pair(src, tgt, config, rng)) for number, src, tgt in texts]


def change_pair(src: str, tgt: str, config: DataConfig, rng: random.Random) -> tuple[str, str]:
    if config.recase and rng.random() < config.recase:
        case = rng.choice(CASES)
        src, tgt = case(src), case(tgt)
    if config.drop_words:
        src = without_words(src, config.drop_words, rng)
    if config.typos:
        src = WORD.sub(lambda word: typo(word[0], rng) if rng.random() < config.typos else word[0], src)
    return src, tgt


def without_words(text: str, chance: float, rng: random.Random) -> str:
    """Each word is dropped with this probability; at least one stays."""
    words = text.split()
    kept = [word for word in words if rng.random() >= chance]
    return " ".join(kept or words[:1]) if len(kept) < len(words) else text


def typo(word: str, rng: random.Random) -> str:
    """
    >>> typo("cat", random.Random(1)), typo("cat", random.Random(2)), typo("a", random.Random(1))
    ('ct', 'act', 'a')
    """
    if len(word) < 2:
        return word
    drops, at = rng.random() < 0.5, rng.randrange(len(word) - 1)
    if drops:
        return word[: at + 1] + word[at + 2 :]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def joined(lengths: Sequence[tuple[int, int]], chance: float, most: int, rng: random.Random) -> list[list[int]]:
    """Which of some neighbouring pairs become one example: each alone, or with the next if both sides stay within
    `most` tokens.

    >>> joined([(3, 3), (4, 4), (9, 9)], chance=1.0, most=8, rng=random.Random(0))
    [[0, 1], [2]]
    """
    examples: list[list[int]] = []
    at = 0
    while at < len(lengths):
        some = [at]
        if rng.random() < chance and at + 1 < len(lengths):
            together = [a + b for a, b in zip(lengths[at], lengths[at + 1], strict=True)]
            if max(together) <= most:
                some.append(at + 1)
        examples.append(some)
        at += len(some)
    return examples
