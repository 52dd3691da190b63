"""Model 1 against its definition, against what EM promises, and against gold links."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align import ibm
from regard.align.ibm import Model1, link_posteriors, train
from regard.align.numbered import NULL, NumberedPairs, Sentences, grouped, words_of
from regard.errors import InputError
from regard.explain.alignment import aer, diagonal
from support import grammar

TEXTBOOK = [("das Haus", "the house"), ("das Buch", "the book"), ("ein Buch", "a book")]
lines = st.lists(st.sampled_from("abcde"), min_size=1, max_size=5).map(" ".join)
corpora = st.lists(st.tuples(lines, lines), min_size=1, max_size=8)


def one_iteration_by_definition(pairs, model: Model1 | None):
    """A round of EM in plain loops: the next table, and the log-likelihood by the one before."""
    size = len({word for _, target in pairs for word in target.split()})
    counts, totals, log_likelihood = defaultdict(float), defaultdict(float), 0.0
    for source, target in pairs:
        table = model.table.probability if model else lambda f, e: 1 / size
        rows, ln = link_posteriors(source, target, table)
        log_likelihood += ln
        for f, row in zip(target.split(), rows, strict=True):
            for e, posterior in zip([NULL, *source.split()], row, strict=True):
                counts[f, e] += posterior
                totals[e] += posterior
    return {(f, e): count / totals[e] for (f, e), count in counts.items()}, log_likelihood


@given(corpora, st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_training_does_what_the_plain_loops_do(pairs, iterations):
    before = train(pairs, iterations - 1) if iterations > 1 else None
    expected, log_likelihood = one_iteration_by_definition(pairs, before)
    model = train(pairs, iterations)
    assert model.log_likelihoods[-1] == pytest.approx(log_likelihood)
    assert len(model.table.keys) == len(expected)
    for (f, e), probability in expected.items():
        assert model.table.probability(f, e) == pytest.approx(probability, abs=1e-12)


@given(corpora)
@settings(max_examples=20, deadline=None)
def test_the_likelihood_never_falls(pairs):
    steps = np.diff(train(pairs, iterations=12).log_likelihoods)
    assert (steps >= -1e-9).all()


@given(corpora, st.sampled_from([0.0, 0.1, 1.0]))
@settings(max_examples=20, deadline=None)
def test_the_translations_of_a_word_sum_to_one(pairs, smoothing):
    table = train(pairs, 2, smoothing).table
    sums = np.bincount(table.sources, weights=table.probabilities)
    np.testing.assert_allclose(sums, 1.0)


@given(corpora, st.integers(1, 60))
@settings(max_examples=20, deadline=None)
def test_groups_hold_every_pair_once_and_stay_small(pairs, cells):
    table, _ = ibm.initial_table(NumberedPairs.of(pairs))
    sources = [[table.source_numbers[w] for w in source.split()] for source, _ in pairs]
    targets = [[table.target_numbers[w] for w in target.split()] for _, target in pairs]
    groups = list(grouped(Sentences.of(sources), Sentences.of(targets), cells))
    assert sorted(n for g in groups for n in g.pairs) == list(range(len(pairs)))
    for group in groups:
        assert len(group.pairs) == 1 or group.source.shape[1] * group.target.size <= cells
        for n, source, target, mask in zip(group.pairs, group.source, group.target, group.mask, strict=True):
            assert source.tolist() == [0, *sources[n]]
            assert target[mask].tolist() == targets[n]


def test_the_textbook_example_comes_out_as_it_should():
    model = train(TEXTBOOK, iterations=30)
    best = {word: model.table.best(word, 1)[0][0] for word in ("das", "Haus", "Buch", "ein")}
    assert best == {"das": "the", "Haus": "house", "Buch": "book", "ein": "a"}
    assert model.align("ein Haus", "a house") == [(0, 0), (1, 1)]
    assert model.align("Haus das", "THE house") == [(0, 1), (1, 0)]


def test_translations_come_best_first_and_no_more_than_asked_for():
    table = train(TEXTBOOK).table
    ranked = table.best("das", 3)
    assert len(ranked) == 3
    assert [p for _, p in ranked] == sorted((p for _, p in ranked), reverse=True)
    assert all(p == table.probability(word, "das") for word, p in ranked)
    assert table.best("Katze") == []


def test_unknown_words_and_empty_sentences_have_no_links():
    model = train(TEXTBOOK)
    assert model.align("das Haus", "zebra") == []
    assert model.align("Zebra", "house") == []
    assert model.align_all([("", "house"), ("das", ""), ("das", "the")]) == [[], [], [(0, 0)]]


def test_words_may_come_split_already():
    model = train([(source.split(), target.split()) for source, target in TEXTBOOK])
    assert model.log_likelihoods == train(TEXTBOOK).log_likelihoods


def test_pairs_with_an_empty_side_teach_nothing_and_none_at_all_is_an_error():
    assert train([*TEXTBOOK, ("", "a"), ("a", " ")]).log_likelihoods == train(TEXTBOOK).log_likelihoods
    with pytest.raises(InputError, match="was given none"):
        train([("", "a")])


@pytest.mark.parametrize(("iterations", "smoothing"), [(0, 0.0), (1, -1.0)])
def test_impossible_settings_are_refused(iterations, smoothing):
    with pytest.raises(InputError, match="one iteration or more"):
        train(TEXTBOOK, iterations, smoothing)


def test_on_the_embedded_corpus_it_beats_the_diagonal():
    examples = grammar()["train"].examples
    pairs = [(e.src, e.tgt) for e in examples]
    gold = [set(e.alignment) for e in examples]
    found = [set(links) for links in train(pairs).align_all(pairs)]
    blind = [diagonal(len(words_of(source)), len(words_of(target))) for source, target in pairs]
    assert aer(found, gold) < 0.3 < aer(blind, gold)
