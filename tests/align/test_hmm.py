"""The HMM aligner against all paths written out, against what EM promises, against gold links and others' links."""

from __future__ import annotations

import itertools
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align import hmm, ibm
from regard.align.hmm import (
    HmmConfig,
    forward_backward,
    symmetrize,
    train,
    train_both,
    transition_probabilities,
    update_jumps,
    viterbi,
)
from regard.errors import InputError, RecipeError
from regard.explain.alignment import aer, parse_links, transpose
from support import grammar

GOLD = Path(__file__).parents[3] / "shared" / "data" / "gold-alignments"
needs_gold = pytest.mark.skipif(not GOLD.exists(), reason="the hand-made alignments are not here")
lines = st.lists(st.sampled_from("abcde"), min_size=1, max_size=5).map(" ".join)
corpora = st.lists(st.tuples(lines, lines), min_size=1, max_size=8)
links = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)))
JOINS = ("intersection", "grow-diag", "grow-diag-final-and", "grow-diag-final", "union")


def read(name: str) -> list[str]:
    return lzma.decompress((GOLD / name).read_bytes()).decode("utf-8").split("\n")[:-1]


def score(found, sure, possible=None) -> float:
    return aer([set(one) for one in found], sure, possible)


def path_probability(sources, emissions, transitions, p0) -> float:
    """p(words, sources | source) of one sentence, as the module's docstring has it."""
    probability, position = 1.0, 0
    for j, source in enumerate(sources):
        if source == 0:
            probability *= p0 * emissions[j, 0]
        else:
            probability *= (1 - p0) * transitions[position, source - 1] * emissions[j, source]
            position = source
    return probability


@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_expectations_and_best_path_are_those_of_all_paths_written_out(source_words, words, seed):
    rng = np.random.default_rng(seed)
    emissions, p0 = rng.uniform(0.01, 1, (2, words, source_words + 1)), 0.3
    transitions = transition_probabilities(rng.uniform(0.1, 1, 5), source_words)
    found = forward_backward(emissions, np.ones((2, words), dtype=bool), transitions, p0)
    best = viterbi(emissions, np.ones((2, words), dtype=bool), transitions, p0)
    jumps = np.zeros_like(transitions)
    for b in range(2):
        paths = list(itertools.product(range(source_words + 1), repeat=words))
        weights = np.array([path_probability(path, emissions[b], transitions, p0) for path in paths])
        assert found.log_likelihoods[b] == pytest.approx(np.log(weights.sum()))
        assert tuple(best[b]) == paths[int(weights.argmax())]
        weights /= weights.sum()
        sources = np.zeros((words, source_words + 1))
        for path, weight in zip(paths, weights, strict=True):
            position = 0
            for j, source in enumerate(path):
                sources[j, source] += weight
                if source:
                    jumps[position, source - 1] += weight
                    position = source
        np.testing.assert_allclose(found.posteriors[b], sources, atol=1e-12)
    np.testing.assert_allclose(found.jumps, jumps, atol=1e-12)


def test_padding_changes_nothing():
    rng = np.random.default_rng(1)
    emissions, transitions = rng.uniform(0.01, 1, (1, 3, 5)), transition_probabilities(rng.uniform(0.1, 1, 7), 4)
    padded = np.concatenate([emissions, np.ones((1, 2, 5))], axis=1)
    mask = np.array([[True, True, True, False, False]])
    short = forward_backward(emissions, mask[:, :3], transitions, 0.2)
    long = forward_backward(padded, mask, transitions, 0.2)
    np.testing.assert_allclose(long.posteriors[:, :3], short.posteriors)
    np.testing.assert_allclose(long.jumps, short.jumps)
    np.testing.assert_allclose(long.log_likelihoods, short.log_likelihoods)


def test_padding_changes_no_alignment():
    """The most probable jumps through the padding must not decide where the words before it come from."""
    rng = np.random.default_rng(1)
    emissions, transitions = rng.uniform(0.01, 1, (50, 3, 5)), transition_probabilities(rng.uniform(0.1, 1, 7), 4)
    padded = np.concatenate([emissions, np.ones((50, 4, 5))], axis=1)
    mask = np.arange(7) < np.full((50, 1), 3)
    alone = viterbi(emissions, mask[:, :3], transitions, 0.2)
    assert viterbi(padded, mask, transitions, 0.2)[:, :3].tolist() == alone.tolist()


def test_moves_depend_on_the_width_alone_and_sum_to_one():
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])  # of −2 … 2
    transitions = transition_probabilities(weights, 4)
    np.testing.assert_allclose(transitions.sum(axis=1), 1.0)
    np.testing.assert_allclose(transitions[0], np.array([4, 5, 5, 5]) / 19)  # + 1, + 2, and beyond as + 2
    np.testing.assert_allclose(transitions[3], np.array([1, 2, 3, 4]) / 10)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_an_update_of_the_jumps_never_explains_them_worse(seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 1, 5)
    jumps = {n: rng.exponential(1.0, (n + 1, n)) for n in (2, 3, 6)}

    def explained(w) -> float:
        return sum(float((counts * np.log(transition_probabilities(w, n))).sum()) for n, counts in jumps.items())

    assert explained(update_jumps(weights, jumps)) >= explained(weights) - 1e-9


@given(corpora)
@settings(max_examples=25, deadline=None)
def test_the_likelihood_never_falls(pairs):
    steps = np.diff(train(pairs, HmmConfig(iterations=8)).log_likelihoods)
    assert (steps >= -1e-6).all()


def test_one_pair_alone_is_aligned_as_among_many_and_unknown_words_do_no_harm():
    pairs = [(e.src, e.tgt) for e in grammar()["train"].examples[:150]]
    both = train_both(pairs, HmmConfig(iterations=2, model1_iterations=2))
    new = [*pairs[:20], ("zyx qrs", "the unheard-of"), ("", "le"), ("the", "")]
    for way in ("viterbi", "posterior"):
        assert both.forward.align_all(new, way) == [both.forward.align(*pair, way) for pair in new]
    assert both.align_all(new) == [both.align(*pair) for pair in new]
    assert both.align_all(new)[-2:] == [[], []]


@pytest.mark.long
def test_on_the_embedded_corpus_it_beats_model_1_in_both_directions():
    examples = grammar()["train"].examples
    pairs, gold = [(e.src, e.tgt) for e in examples], [set(e.alignment) for e in examples]
    turned = [(target, source) for source, target in pairs]
    both = train_both(pairs)
    forward, backward = both.forward.align_all(pairs), both.backward.align_all(turned)
    assert score(forward, gold) < score(ibm.train(pairs).align_all(pairs), gold) - 0.05
    turned_gold = [transpose(one) for one in gold]
    assert score(backward, turned_gold) < score(ibm.train(turned).align_all(turned), turned_gold) - 0.05
    assert score(both.align_all(pairs, "union"), gold) < min(score(forward, gold), score(backward, turned_gold))


# ------------------------------------------------------------------------------------------------ both directions


@given(links, links)
def test_each_way_to_join_holds_the_links_of_the_stricter_one(forward, backward):
    joined = [set(symmetrize(forward, backward, join)) for join in JOINS]
    assert joined[0] == forward & backward
    assert joined[-1] == forward | backward
    for smaller, larger in itertools.pairwise([joined[0], joined[1], joined[2], joined[-1]]):
        assert smaller <= larger
    assert joined[1] <= joined[3] <= joined[-1]


@given(links, links)
def test_after_final_every_word_that_either_links_is_linked(forward, backward):
    joined = symmetrize(forward, backward, "grow-diag-final")
    assert {i for i, _ in joined} == {i for i, _ in forward | backward}
    assert {j for _, j in joined} == {j for _, j in forward | backward}


def test_growing_takes_neighbours_only_and_final_the_rest():
    forward, backward = [(0, 0), (1, 1), (4, 4)], [(0, 0), (0, 1), (5, 4)]
    assert symmetrize(forward, backward, "grow-diag") == [(0, 0), (1, 1)]
    assert symmetrize(forward, backward, "grow-diag-final-and") == [(0, 0), (1, 1), (4, 4)]
    assert symmetrize(forward, backward, "grow-diag-final") == [(0, 0), (1, 1), (4, 4), (5, 4)]


@needs_gold
@pytest.mark.parametrize("system", ["fastalign", "giza"])
def test_joined_links_are_those_that_others_made_from_the_same_two_directions(system):
    names = ("forward", "reverse", "intersection", "union", "grow-diagonal", "grow-diagonal-final")
    files = {name: read(f"systems/enfr.{system}.{name}.talp.xz") for name in names}
    stored = {name: [parse_links(line)[0] for line in text] for name, text in files.items()}
    backward = [transpose(one) for one in stored["reverse"]]

    def same(name: str, join: hmm.Join) -> float:
        ours = [set(symmetrize(one, other, join)) for one, other in zip(stored["forward"], backward, strict=True)]
        return sum(a == b for a, b in zip(ours, stored[name], strict=True)) / len(ours)

    assert same("intersection", "intersection") == 1.0
    assert same("union", "union") == 1.0
    assert same("grow-diagonal", "grow-diag") > 0.99  # which of two rivals is met first is not the same everywhere
    assert same("grow-diagonal-final", "grow-diag-final-and") > 0.99


@needs_gold
def test_on_the_hansards_it_beats_model_1_even_from_447_pairs():
    pairs = [(s.split(), t.split()) for s, t in zip(read("enfr.src.xz"), read("enfr.tgt.xz"), strict=True)]
    sure, possible = zip(*(parse_links(line, first=1) for line in read("enfr.gold.1indexed.talp.xz")), strict=True)
    both = train_both(pairs)
    joined = score(both.align_all(pairs), sure, possible)
    forward = score(both.forward.align_all(pairs), sure, possible)
    assert joined < forward < score(ibm.train(pairs).align_all(pairs), sure, possible)
    assert joined < 0.25


# ------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("setting", "value"), [("iterations", 0), ("model1_iterations", 0), ("p0", 0.0), ("p0", 1.0), ("widest", 0)]
)
def test_impossible_settings_are_refused(setting, value):
    with pytest.raises(RecipeError, match=rf"hmm\.{setting} must be"):
        HmmConfig(**{setting: value})


def test_unknown_ways_are_refused():
    model = train([("a b", "x y")], HmmConfig(iterations=1))
    with pytest.raises(InputError, match="viterbi or by posterior"):
        model.align("a", "x", "guess")  # type: ignore[arg-type]
    with pytest.raises(InputError, match='did you mean "grow-diag"'):
        symmetrize([], [], "grow-dig")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="was given none"):
        train([])
