"""A small real vocabulary, learned once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from regard.text.tokenizer import TextConfig, Tokenizer

NOUNS = [("cat", "chat"), ("dog", "chien"), ("man", "homme"), ("garden", "jardin"), ("tree", "arbre")]
VERBS = [("sees", "voit"), ("follows", "suit"), ("doesn't see", "ne voit pas"), ("crossed", "a traversé")]


def every_sentence() -> Iterator[tuple[str, str]]:
    """Every noun with every verb and noun: enough repetition for merges, with elisions, digits and accents."""
    for (a, x), (b, y), (c, z) in itertools.product(NOUNS, VERBS, NOUNS):
        article = "l'" if z[0] in "ah" else "le "
        yield f"The {a} {b} the {c}, number {len(a + c)}7.", f"Le {x} {y} {article}{z}, numéro {len(a + c)}7 !"


@pytest.fixture(scope="session")
def sentences() -> Callable[[], Iterator[tuple[str, str]]]:
    return every_sentence


@pytest.fixture(scope="session")
def bpe() -> Tokenizer:
    return Tokenizer.train(every_sentence, TextConfig(vocab_size=400))


@pytest.fixture(scope="session")
def words() -> Tokenizer:
    return Tokenizer.train(every_sentence, TextConfig(unit="word", vocab_size=200, joint=False))
