"""Variants of search against plain readings of their definitions: exhaustive search over a tiny vocabulary, a diverse
beam written out, and penalties computed from what a Transformer really attended to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from chain import Chain, V
from regard.batch import BOS, EOS, flat_batch
from regard.errors import InputError
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.search.alignment_heads import alignment_heads_of
from regard.search.engine import Hypothesis, SearchRequest, length_penalty
from regard.search.options import Sampling, SearchOptions
from regard.search.required_terms import Terms
from regard.search.search import search
from regard.search.strategy import bounded, coverage_penalty, repeated

Ids = tuple[int, ...]
WORDS = range(3, V)
SEEDS = st.integers(0, 10_000)


def asked(*sources: Sequence[int]) -> list[SearchRequest]:
    return [SearchRequest(tuple(source)) for source in sources]


Table = list[list[float]]  # of a source's first word: log P(next | previous)


def table_of(model: Chain, source: int) -> Table:
    table: Table = model.tables[source].tolist()
    return table


def steps_of(table: Table, ids: Ids) -> list[float]:
    """The model's log-probability of each token and of EOS."""
    said = [*ids, EOS]
    return [table[a][b] for a, b in zip([BOS, *said], said, strict=False)]


def every_output(most: int) -> list[Ids]:
    return [ids for n in range(most + 1) for ids in product(WORDS, repeat=n)]


# ── exhaustive search ───────────────────────────────────────────────────────────────────────────────────────────────


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.floats(0, 4), st.floats(1, 3), st.integers(0, 2))
def test_exact_stopping_finds_what_exhaustive_search_finds(seed: int, alpha: float, theta: float, least: int) -> None:
    """With a beam that holds everything, for any length penalty, with and without the other penalties."""
    model, most = Chain(seed), 4
    options = SearchOptions(
        300, alpha, nbest=300, exact=True, max_length=most, min_length=least, repetition_penalty=theta
    )
    found = search(model, asked([3], [4]), options)
    for source, some in zip((3, 4), found, strict=True):
        wanted, table = {}, table_of(model, source)
        for ids in every_output(most):
            if len(ids) >= least:
                gains = steps_of(table, ids)
                weights = [theta if token in ids[:i] else 1.0 for i, token in enumerate([*ids, EOS])]
                total = sum(w * gain for w, gain in zip(weights, gains, strict=True))
                wanted[ids] = total / length_penalty(len(gains), alpha)
        best = sorted(wanted.items(), key=lambda item: -item[1])
        assert [h.score for h in some[:20]] == pytest.approx([score for _, score in best[:20]], abs=1e-5)
        assert some[0].ids == best[0][0] or math.isclose(best[0][1], best[1][1], abs_tol=1e-5)
        for h in some[:20]:
            assert h.score == pytest.approx(wanted[h.ids], abs=1e-5)
            assert h.log_probs == pytest.approx(steps_of(table, h.ids), abs=1e-5)  # the model's own


def test_exact_stopping_goes_on_where_the_usual_rule_stops() -> None:
    """The usual rule compares live hypotheses at their present length; a long one may still overtake."""
    model = Chain(0)
    table = torch.full((V, V), -math.inf)
    table[:, EOS] = math.log(0.5)
    table[:, 3] = math.log(0.5)
    table[BOS, 3], table[BOS, EOS] = math.log(0.45), math.log(0.55)
    with torch.no_grad():
        model.tables[:] = table
    options = SearchOptions(2, 1.5, max_length=30)
    ((early,),) = search(model, asked([3]), options)
    ((late,),) = search(model, asked([3]), replace(options, exact=True))
    scores = {n: sum(steps_of(table_of(model, 3), (3,) * n)) / length_penalty(n + 1, 1.5) for n in range(31)}
    assert len(late.ids) == max(scores, key=lambda n: scores[n])
    assert late.score >= early.score


# ── lengths and repetition ──────────────────────────────────────────────────────────────────────────────────────────


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.integers(0, 8), st.integers(0, 6), st.integers(1, 5), st.booleans())
def test_lengths_hold(seed: int, least: int, more: int, rows: int, drawn: bool) -> None:
    most = max(1, least + more)
    sampling = Sampling(seed=seed) if drawn else None
    options = SearchOptions(rows, 0.6, nbest=rows, sampling=sampling, min_length=least, max_length=most)
    bound = SearchRequest((5, 4), Terms.of([[(6,)]]))
    for some in search(Chain(seed), [*asked([3], [4, 5, 6]), bound], options):
        assert some
        for h in some:
            assert least <= len(h.ids) <= most
            assert len(h.log_probs) == len(h.ids) + 1  # all of them end


def test_bounds_and_repetition_by_hand() -> None:
    scores = torch.tensor([[-1.0, -2.0, -3.0, -4.0]]).repeat(3, 1)
    none = -math.inf
    found = bounded(scores, torch.tensor([1, 2, 5]), least=2, most=5)
    assert found.tolist() == [[-1, -2, none, -4], [-1, -2, -3, -4], [none, none, -3, none]]
    said = torch.tensor([[True, False, False, True]])
    assert repeated(scores[:1], said, 1.5).tolist() == [[-1.5, -2, -3, -6]]
    assert float(coverage_penalty(torch.tensor([2.0, 0.25, 1.0]), 0.5)) == pytest.approx(0.5 * math.log(0.25))


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.floats(1, 5))
def test_greedy_with_a_repetition_penalty_step_by_step(seed: int, theta: float) -> None:
    model = Chain(seed)
    ((found,),) = search(model, asked([3]), SearchOptions(1, 0.0, repetition_penalty=theta, max_length=9))
    said: list[int] = []
    while len(said) < 9:
        row = table_of(model, 3)[said[-1] if said else BOS]
        ranked = {w: row[w] * (theta if w in said else 1) for w in (EOS, *WORDS)}
        best = max(ranked, key=lambda w: ranked[w])
        if best == EOS:
            break
        said.append(best)
    assert list(found.ids) == said


# ── diverse beam ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Group:
    state: list[tuple[float, Ids]]
    ended: dict[Ids, float]
    done: bool = False


def diverse_by_definition(model: Chain, source: int, options: SearchOptions) -> dict[Ids, float]:
    """Vijayakumar et al. 2018, a group after the other at each step; the groups part at the first token."""
    width, most = options.beam // options.groups, options.max_length or 0
    table = table_of(model, source)
    groups = [Group([(0.0, ())], {}) for _ in range(options.groups)]
    for step in range(most + 1):
        chosen: list[int] = []
        for group in (g for g in groups if not g.done):
            allowed = [EOS] if step == most else [EOS, *WORDS]
            every = [
                (total + table[ids[-1] if ids else BOS][w], ids, w)
                for total, ids in group.state
                for w in allowed
                if not (step == 0 and w in chosen)
            ]
            every.sort(key=lambda one: -(one[0] - options.diversity * chosen.count(one[2])))
            state: list[tuple[float, Ids]] = []
            taken = []
            for total, ids, word in every[: 2 * width if width > 1 else 1]:  # one row: greedy search
                if len(state) == width:
                    break
                taken.append(word)
                if word == EOS:
                    group.ended[ids] = total / length_penalty(len(ids) + 1, options.length_penalty)
                else:
                    state.append((total, (*ids, word)))
            chosen += taken
            group.state = state
            group.ended = dict(sorted(group.ended.items(), key=lambda item: -item[1])[:width])
            reach = max(
                (total / length_penalty(step + 1, options.length_penalty) for total, _ in state),
                default=-math.inf,
            )
            worst = min(group.ended.values()) if len(group.ended) == width else -math.inf
            group.done = not state or reach <= worst
    return {ids: score for group in groups for ids, score in group.ended.items()}


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.sampled_from([(4, 2), (2, 2), (4, 4), (3, 3), (6, 2)]), st.floats(0, 3), st.floats(0, 1))
def test_a_diverse_beam_is_what_its_definition_says(
    seed: int, sizes: tuple[int, int], strength: float, alpha: float
) -> None:
    beam, groups = sizes
    model = Chain(seed)
    options = SearchOptions(beam, alpha, nbest=beam, groups=groups, diversity=strength, max_length=6)
    for source, some in zip((3, 4), search(model, asked([3], [4]), options), strict=True):
        wanted = diverse_by_definition(model, source, options)
        best = sorted(wanted.values(), reverse=True)  # two outputs of a chain can be equally probable
        assert [h.score for h in some] == pytest.approx(best, abs=1e-5)
        assert len({h.ids for h in some}) == len(some)


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.floats(0, 5))
def test_one_group_is_beam_search_and_the_first_group_always_is(seed: int, strength: float) -> None:
    model, plain = Chain(seed), SearchOptions(4, 0.6, nbest=4)
    (one,) = search(model, asked([3]), replace(plain, groups=1, diversity=strength))
    assert one == search(model, asked([3]), plain)[0]
    (first,) = search(model, asked([3]), SearchOptions(2, 0.6, nbest=2))
    (two,) = search(model, asked([3]), replace(plain, groups=2, diversity=strength))
    assert {h.ids for h in first} <= {h.ids for h in two}


# ── a Transformer ───────────────────────────────────────────────────────────────────────────────────────────────────

SOURCES = [[5, 6, 7, 8, 9, 10], [11], [12, 13, 14], [5, 5, 9]]


@pytest.fixture(scope="module")
def transformer() -> Transformer:
    torch.manual_seed(5)
    config = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=2, dropout=0.0)
    return Transformer(config, 23, 23, True).eval()


def covering_score(model: Transformer, source: Sequence[int], h: Hypothesis, options: SearchOptions) -> float:
    """From the attention of a teacher-forced pass over what was found."""
    heads = alignment_heads_of(model, {})
    (weights,) = heads.average(model.attention(flat_batch([source], [h.ids]).pad()).cross)  # (T + 1, S + 1)
    covered = weights[: len(h.log_probs), : len(source)].sum(0).tolist()
    penalty = options.coverage_penalty * sum(math.log(min(1.0, c)) for c in covered)
    return h.log_prob / length_penalty(len(h.log_probs), options.length_penalty) + penalty


@pytest.mark.parametrize("most", [None, 5])
def test_coverage_is_that_of_the_attention_of_what_was_found(transformer: Transformer, most: int | None) -> None:
    options = SearchOptions(4, 0.6, nbest=4, coverage_penalty=0.7, max_length=most)
    heads = alignment_heads_of(transformer, {})
    bound = [SearchRequest((12, 13), Terms.of([[(15, 16)]]))]
    with torch.no_grad():
        found = search(transformer, [*asked(*SOURCES), *bound], options, heads=heads)
        for source, some in zip([*SOURCES, (12, 13)], found, strict=True):
            scores = [covering_score(transformer, source, h, options) for h in some]
            ended = [h for h in some if len(h.log_probs) > len(h.ids)]
            if ended:
                assert [h.score for h in some] == pytest.approx(scores, abs=1e-4)
                assert scores == sorted(scores, reverse=True)


def test_coverage_needs_attention() -> None:
    with pytest.raises(InputError, match="coverage_penalty must be 0 for a model without attention"):
        search(Chain(0), asked([3]), SearchOptions(2, 0.6, coverage_penalty=0.1))


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"repetition_penalty": 1.5}, marks=pytest.mark.long),
        {"coverage_penalty": 0.3},
        pytest.param({"groups": 2}, marks=pytest.mark.long),
        {"groups": 4, "diversity": 1.0, "repetition_penalty": 1.2},
        {"exact": True, "max_length": 12},
        {"min_length": 3, "max_length": 7},
        {"sampling": Sampling(min_p=0.05, seed=3), "repetition_penalty": 2.0, "max_length": 9},
    ],
)
def test_the_batch_does_not_matter(transformer: Transformer, options: dict[str, Any]) -> None:
    chosen = SearchOptions(4, 0.6, nbest=4, **options)
    heads = alignment_heads_of(transformer, {})
    requests = [*asked(*SOURCES), SearchRequest((7, 8), prefix=(9, 10)), SearchRequest((6,), Terms.of([[(15,)]]))]
    together = search(transformer, requests, chosen, heads=heads)
    for request, some in zip(requests, together, strict=True):
        (alone,) = search(transformer, [request], chosen, heads=heads)
        assert [h.ids for h in alone] == [h.ids for h in some]
        assert [h.score for h in alone] == pytest.approx([h.score for h in some], abs=1e-4)
        assert all(h.ids[: len(request.prefix)] == request.prefix for h in some)
