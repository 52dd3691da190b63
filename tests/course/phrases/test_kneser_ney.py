"""Kneser–Ney smoothing against counts by hand and against the formula written out over dictionaries."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align.numbered import Sentences
from regard.course.phrases.kneser_ney import KneserNey, train_language_model

SIZE = 4
BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
Words = tuple[int | str, ...]


def formula(lines: list[list[int]], order: int) -> Callable[[Words, int | str], float]:
    """p(word | words before it), as in the head of the module, term by term."""
    padded = [(BEGIN, *line, END) for line in lines]
    raw = Counter(line[i : i + n] for line in padded for n in range(1, order + 1) for i in range(len(line) - n + 1))
    before: dict[Words, set[int | str]] = defaultdict(set)
    for gram in raw:
        before[gram[1:]].add(gram[0])

    def count(gram: Words) -> int:
        own = len(gram) == order or (gram[0] == BEGIN and len(gram) > 1)
        return raw[gram] if own else len(before[gram])

    def cuts(n: int) -> list[float]:
        of_order = Counter(count(gram) for gram in raw if len(gram) == n and gram != (BEGIN,))
        if not all(of_order[k] for k in (1, 2, 3, 4)):
            return [0.0, 0.5, 1.0, 1.5]
        y = of_order[1] / (of_order[1] + 2 * of_order[2])
        found = [0.0, *(k - (k + 1) * y * of_order[k + 1] / of_order[k] for k in (1, 2, 3))]
        return found if min(found[1:]) > 0 else [0.0, 0.5, 1.0, 1.5]

    discounts = {n: cuts(n) for n in range(1, order + 1)}

    def p(history: Words, word: int | str) -> float:
        lower = p(history[1:], word) if history else 1 / (SIZE + 2)
        seen = {gram[-1]: count(gram) for gram in raw if gram[:-1] == history and gram != (BEGIN,)}
        total = sum(seen.values())
        if not total:
            return lower
        cut = {w: discounts[len(history) + 1][min(c, 3)] for w, c in seen.items()}
        return (seen.get(word, 0) - cut.get(word, 0.0)) / total + sum(cut.values()) / total * lower

    return p


def number(model: KneserNey, word: int | str) -> int:
    return word if isinstance(word, int) else {UNKNOWN: model.unknown, END: model.end}[word]


def probability(model: KneserNey, history: Words, word: int | str) -> float:
    state = model.start
    for one in history:
        _, state = model.follow(state, number(model, one))
    return math.exp(model.follow(state, number(model, word))[0])


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=5), min_size=1, max_size=4),
    st.lists(st.sampled_from([0, 1, 2, 3, UNKNOWN]), max_size=5),
    st.integers(2, 5),
)
def test_it_is_the_formula_and_sums_to_one(lines: list[list[int]], history: list[int | str], order: int) -> None:
    model, p = train_language_model(Sentences.of(lines), SIZE, order), formula(lines, order)
    known = tuple([BEGIN, *history][-(order - 1) :])
    total = 0.0
    for word in (0, 1, 2, 3, UNKNOWN, END):
        found = probability(model, tuple(history), word)
        assert found == pytest.approx(p(known, word))
        total += found
    assert total == pytest.approx(1)


def test_a_bigram_model_by_hand() -> None:
    """0 1 and 0 0. Bigrams: <s>0 ×2, 01, 1</s>, 00, 0</s>. Words before 0: <s> and 0; before 1: one; before </s>: two.

    q(1) = (1 − ½)/5 + (1 + ½ + 1)/5 · 1/4 = 0.225 with D = ½, 1 and a uniform 1/(2 + 2);
    p(1 | 0) = (1 − ½)/3 + 3 · ½/3 · q(1) = 0.279166…
    """
    model = train_language_model(Sentences.of([[0, 1], [0, 0]]), 2, 2)
    assert probability(model, (0,), 1) == pytest.approx(1 / 6 + 0.5 * 0.225)
    assert probability(model, (1,), 1) == pytest.approx(0.5 * 0.225)  # after 1 stands </s> alone


def test_a_word_that_follows_one_word_alone_is_improbable_elsewhere() -> None:
    """3 occurs as often as 2, but always after 0: what continuation counts are for."""
    lines = [[0, 3], [0, 3], [0, 3], [1, 2], [2, 2], [0, 1]]
    model = train_language_model(Sentences.of(lines), SIZE, 3)
    assert probability(model, (UNKNOWN,), 3) < probability(model, (UNKNOWN,), 2)
