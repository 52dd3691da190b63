"""Splits that do not leak: pairs that share a sentence, on either side, stay together.

Collections such as Tatoeba translate one sentence several times. Split line by line, most test sentences have been
seen in training with another translation, and scores mean little. Here two pairs are connected if their sources or
their targets are the same but for case, punctuation and white space; whole components go to one part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from regard.data.corpus import Pair
from regard.data.key_words import key_words


@dataclass(frozen=True)
class SplitPairs:
    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]


def sentence_key(text: str) -> str:
    """The same for two spellings of one sentence.

    >>> sentence_key("It's  late!") == sentence_key("it’s late.")
    True
    >>> sentence_key("It's late.") == sentence_key("It is late.")
    False
    """
    return " ".join(key_words(text))


def components(pairs: Sequence[Pair]) -> list[int]:
    """For each pair the number of its component: the first pair that belongs to it.

    >>> components([("Hi.", "Salut !"), ("Go.", "Va !"), ("Hello.", "Salut."), ("Hi!", "Bonjour.")])
    [0, 1, 0, 0]
    """
    parent = list(range(len(pairs)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]  # path halving
            i = parent[i]
        return i

    first: dict[tuple[int, str], int] = {}
    for i, pair in enumerate(pairs):
        for side, text in enumerate(pair):
            known = root(first.setdefault((side, sentence_key(text)), i))
            here = root(i)
            parent[max(known, here)] = min(known, here)
    return [root(i) for i in range(len(pairs))]


def split_connected(pairs: Sequence[Pair], dev: int, test: int, seed: int = 1, most: int = 10) -> SplitPairs:
    """Whole components in the order of a seeded hash fill test, then dev, until they hold that many sources, one
    reference each (the first pair of each source); the rest trains. Components of more than `most` pairs always train:
    short common phrases with many translations would make an easy test. No pair occurs twice.
    """
    members: dict[int, list[int]] = {}
    for i, component in enumerate(components(pairs)):
        members.setdefault(component, []).append(i)
    order = sorted((c for c in members if len(members[c]) <= most), key=lambda c: _order_key(seed, pairs[c]))
    held: dict[str, list[Pair]] = {"test": [], "dev": []}
    for name, wanted in (("test", test), ("dev", dev)):
        while len(held[name]) < wanted and order:
            component = order.pop(0)
            references: dict[str, Pair] = {}
            for i in members.pop(component):
                references.setdefault(sentence_key(pairs[i][0]), pairs[i])
            held[name] += list(references.values())[: wanted - len(held[name])]
    train = dict.fromkeys(pairs[i] for component in sorted(members) for i in members[component])
    return SplitPairs(list(train), held["dev"], held["test"])


def _order_key(seed: int, pair: Pair) -> bytes:
    """A hash that is the same on every machine. It is of a component's first pair, so the order of the file matters."""
    return hashlib.blake2b(f"{seed}\t{sentence_key(pair[0])}\t{sentence_key(pair[1])}".encode(), digest_size=8).digest()
