"""Stack decoding without limits finds the optimum, and the futures are bounds where the language model is silent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align.numbered import Sentences
from regard.course.phrases.kneser_ney import train_language_model
from regard.course.phrases.search import (
    FEATURES,
    Futures,
    Option,
    Options,
    SearchConfig,
    Weights,
    candidate,
    future_scores,
    n_best,
    paths,
    search,
)

LANGUAGE = train_language_model(Sentences.of([[0, 1, 2], [2, 1], [0, 0, 1, 2], [1, 2, 2]]), 3, 3)
WEIGHTS: Weights = (1.0, 0.5, 0.0, 0.0, -0.2, 0.3, 1.0, 0.4)
SILENT: Weights = (*WEIGHTS[:6], 0.0, WEIGHTS[7])
ENDLESS = 10**9


def option(words: list[int], scores: list[float], weights: Weights) -> Option:
    score = sum(w * s for w, s in zip(weights, scores, strict=False)) + weights[4] + weights[5] * len(words)
    lm, state = 0.0, 0
    for word in words:
        log_prob, state = LANGUAGE.follow(state, word)
        lm += log_prob
    return Option(tuple(words), tuple(map(str, words)), tuple(scores), score, score + weights[6] * lm)


@st.composite
def tables(draw: st.DrawFn, weights: Weights = WEIGHTS) -> tuple[int, Options]:
    length = draw(st.integers(1, 4))
    phrase = st.lists(st.integers(0, 2), min_size=1, max_size=2)
    scores = st.lists(st.integers(-5, 0).map(float), min_size=4, max_size=4)
    made: dict[tuple[int, int], list[Option]] = {}
    for start in range(length):
        for end in range(start + 1, min(start + 2, length) + 1):
            if end == start + 1 or draw(st.booleans()):
                some = draw(st.lists(st.tuples(phrase, scores), min_size=1, max_size=2))
                made[start, end] = sorted((option(p, s, weights) for p, s in some), key=lambda one: -one.estimate)
    return length, made


def every_translation(length: int, options: Options, limit: int) -> Iterator[list[tuple[int, Option]]]:
    """All orders of phrases that the limit allows: (jump, option)."""

    def extend(covered: frozenset[int], at: int) -> Iterator[list[tuple[int, Option]]]:
        if len(covered) == length:
            yield []
            return
        gap = min(set(range(length)) - covered)
        for (start, end), some in options.items():
            reachable = abs(start - at) <= limit and (start == gap or end - gap <= limit)
            if reachable and not covered & set(range(start, end)):
                for one in some:
                    for rest in extend(covered | set(range(start, end)), end):
                        yield [(-abs(start - at), one), *rest]

    return extend(frozenset(), 0)


def total(chosen: list[tuple[int, Option]], weights: Weights) -> float:
    words = [word for _, one in chosen for word in one.words]
    return sum(one.score + weights[7] * jump for jump, one in chosen) + weights[6] * LANGUAGE.log_prob(words)


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(0, 4))
def test_without_limits_it_finds_the_best_and_lists_all_in_order(table: tuple[int, Options], limit: int) -> None:
    length, options = table
    found = search(length, options, LANGUAGE, WEIGHTS, SearchConfig(limit, ENDLESS, ENDLESS))
    scores = sorted((total(chosen, WEIGHTS) for chosen in every_translation(length, options, limit)), reverse=True)
    listed = list(paths(found))
    assert [score for score, _ in listed] == pytest.approx(scores)
    for score, arcs in listed:
        features = candidate(score, arcs).features
        assert len(features) == len(FEATURES)
        assert sum(w * f for w, f in zip(WEIGHTS, features, strict=True)) == pytest.approx(score)


@settings(max_examples=30, deadline=None)
@given(tables(), st.integers(0, 4))
def test_with_narrow_limits_it_finds_something_that_is_allowed(table: tuple[int, Options], limit: int) -> None:
    """One hypothesis a stack: the rule of the first open word leaves no dead end."""
    length, options = table
    found = search(length, options, LANGUAGE, WEIGHTS, SearchConfig(limit, 1, 1))
    allowed = [total(chosen, WEIGHTS) for chosen in every_translation(length, options, limit)]
    assert any(found.score == pytest.approx(score) for score in allowed)


@settings(max_examples=20, deadline=None)
@given(tables(SILENT), st.integers(0, 4))
def test_futures_are_never_too_low(table: tuple[int, Options], limit: int) -> None:
    """With no language model and jumps that cost, the estimate is a bound on what any completion brings."""
    length, options = table
    futures = Futures(length, options, limit)
    for chosen in every_translation(length, options, limit):
        coverage, spans = (
            0,
            [next(s for s, some in options.items() if any(one is o for o in some)) for _, one in chosen],
        )
        for step, (start, end) in enumerate(spans):
            rest = sum(one.score + SILENT[7] * jump for jump, one in chosen[step:])
            assert futures.of(coverage) >= rest - 1e-9
            coverage |= ((1 << end - start) - 1) << start


def test_futures_join_the_best_phrases() -> None:
    options = {
        (0, 1): [option([0], [-1.0, 0, 0, 0], SILENT)],
        (1, 2): [option([1], [-2.0, 0, 0, 0], SILENT)],
        (0, 2): [option([2], [-3.5, 0, 0, 0], SILENT)],
    }
    assert future_scores(2, options, 0)[0, 2] == pytest.approx(-1 - 2 + 2 * (-0.2 + 0.3))


def test_the_n_best_differ_in_words() -> None:
    options = {(i, i + 1): [option([0], [-1.0] * 4, WEIGHTS), option([0], [-2.0] * 4, WEIGHTS)] for i in range(2)}
    found = n_best(search(2, options, LANGUAGE, WEIGHTS), 5)
    assert [one.words for one in found] == [("0", "0")]
