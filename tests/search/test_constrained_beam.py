"""Search under constraints: against exact answers, for every architecture, and beside sentences without any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from chain import Chain
from chain import V as CHAIN_V
from regard.batch import BOS, EOS, pad_sources
from regard.errors import BundleError
from regard.models.table import ARCHITECTURES
from regard.search.batch_rows import SearchItem
from regard.search.constrained_beam import ConstrainedBeams, allocate_banks, constrained_width
from regard.search.constraint_table import ConstraintTable
from regard.search.constraints import All, Constraint, EachOnce, NoRepeat
from regard.search.engine import Hypothesis, SearchRequest, length_penalty
from regard.search.options import Sampling, SearchOptions
from regard.search.required_terms import Terms
from regard.search.search import beam_search, requests_of, search
from regard.search.search_trace import SearchTrace
from regard.search.strategy import strategy_of
from variants import V, scattered


def needs(constraint: Constraint, ids: Sequence[int]) -> int:
    for token in ids:
        constraint = constraint.after(token)
    return constraint.needs


def ended(hypothesis: Hypothesis) -> bool:
    return len(hypothesis.log_probs) == len(hypothesis.ids) + 1


def best_with(table: Tensor, word: int, pair: tuple[int, int], limit: int) -> float:
    """The best sequence that holds `word` and, apart from it, the pair: a state is (last token, what was said)."""
    paths = {(BOS, False, False): 0.0}
    best = -float("inf")
    for _ in range(limit):
        longer: dict[tuple[int, bool, bool], float] = {}
        for (last, said_word, said_pair), score in paths.items():
            if said_word and said_pair:
                best = max(best, score + float(table[last, EOS]))
            for token in range(3, CHAIN_V):
                state = (token, said_word or token == word, said_pair or (last, token) == pair)
                longer[state] = max(longer.get(state, -float("inf")), score + float(table[last, token]))
        paths = longer
    return best


@pytest.mark.parametrize("seed", range(6))
def test_a_wide_beam_finds_the_best_that_meets_it(seed: int) -> None:
    model = Chain(seed)
    model.max_positions = 12  # the search says at most 11 tokens; the last 3 are only for what is still needed
    src, mask = pad_sources([[3]])
    (found,) = beam_search(model, src, mask, beam=300, alpha=0.0, constraints=[Terms.of([[(3,)], [(4, 5)]])])
    table = model.tables[3].detach()
    assert best_with(table, 3, (4, 5), 8) - 1e-4 <= found[0].score <= best_with(table, 3, (4, 5), 11) + 1e-4


PHRASES = st.lists(
    st.lists(st.lists(st.integers(3, 6), min_size=1, max_size=3), min_size=1, max_size=2), min_size=1, max_size=3
)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 4), PHRASES, st.booleans())
def test_terms_are_always_met(seed: int, beam: int, phrases: list, sampled: bool) -> None:
    model, src, mask = Chain(seed), *pad_sources([[3, 5], [4]])
    terms = Terms.of(phrases)
    options = SearchOptions(beam, 0.6, nbest=beam if sampled else 1, sampling=Sampling() if sampled else None)
    for hypotheses in search(model, requests_of(src, mask, [terms, terms]), options):
        assert hypotheses
        for h in hypotheses:
            assert ended(h)
            assert needs(terms, h.ids) == 0


@pytest.mark.parametrize(("beam", "sampled"), [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_every_architecture_can_be_constrained(device: str, architecture: str, beam: int, sampled: bool) -> None:
    _, presets, constructor = ARCHITECTURES[architecture]
    torch.manual_seed(3)
    model = scattered(constructor(presets["tiny"], V, V, True)).to(device)
    slots = EachOnce(frozenset({20, 21}), frozenset({19, 20, 21, 22}))
    terms = Terms.of([[(5, 6, 5)], [(7, 8), (9,)]])
    constraints: list[Constraint] = [All((slots, terms)), slots, terms, NoRepeat(2)]
    src, mask = pad_sources([[3, 4, 5], [6], [7, 8], [9, 9]])
    options = SearchOptions(beam, 0.6, nbest=beam, sampling=Sampling(seed=2) if sampled else None, max_length=14)
    found = search(model, requests_of(src, mask, constraints), options)
    for row, (hypotheses, constraint) in enumerate(zip(found, constraints, strict=True)):
        assert hypotheses
        for h in hypotheses:
            assert needs(constraint, h.ids) == 0
            if row < 2:
                assert Counter(i for i in h.ids if i >= 19) == {20: 1, 21: 1}
        if row == 3:
            assert max(Counter(pairwise(hypotheses[0].ids)).values(), default=0) <= 1


def test_what_is_read_of_it_is_on_the_device_of_the_model() -> None:
    """What a model holds for its rows is chosen by these tensors."""
    elsewhere = torch.device("meta")
    item = SearchItem(0, SearchRequest((3, 4), Terms.of([[(5, 6)]])), 9)
    table = ConstraintTable(9, elsewhere)
    beams = ConstrainedBeams.under(table, strategy_of(SearchOptions(2, 0.6)), 2, 1, [item])
    assert {read.device for read in (beams.step, beams.limit, beams.token, beams.done)} == {elsewhere}


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("beam", [1, 4])
def test_sentences_without_a_constraint_are_searched_as_before(beam: int, sampled: bool) -> None:
    model = Chain(7)
    src, mask = pad_sources([[3, 5], [4], [5, 6, 6], [6, 3]])
    options = SearchOptions(beam, 0.6, nbest=beam, sampling=Sampling() if sampled else None)
    alone = search(model, requests_of(src, mask), options)
    terms = Terms.of([[(3, 6)]])
    mixed = search(model, requests_of(src, mask, [None, terms, None, terms]), options)
    assert [mixed[0], mixed[2]] == [alone[0], alone[2]]
    assert all(needs(terms, h.ids) == 0 for row in (1, 3) for h in mixed[row])
    both = beam_search(model, src, mask, beam, 0.6, constraints=[None, terms, None, terms])
    plain = beam_search(model, src, mask, beam, 0.6)
    assert [both[0], both[2]] == [plain[0], plain[2]]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 5), PHRASES)
def test_a_record_tells_the_whole_constrained_search(seed: int, beam: int, phrases: list) -> None:
    model, src, mask, terms = Chain(seed), *pad_sources([[3]]), Terms.of(phrases)
    records: list[SearchTrace] = []
    (found,) = beam_search(model, src, mask, beam, 0.6, records, [terms])
    assert [found] == beam_search(model, src, mask, beam, 0.6, constraints=[terms])
    search, finished = [((), ())], []
    for weighed in records[0].steps:
        kept = []
        for c in weighed:
            words, steps = search[c.row]
            if c.fate == "kept":
                kept.append(((*words, c.token), (*steps, c.log_prob)))
            elif c.fate == "finished":
                finished.append(((*steps, c.log_prob), words))
        assert len(kept) <= constrained_width(beam, terms)
        search = kept
    best = sorted(finished, key=lambda end: -sum(end[0]) / length_penalty(len(end[0]), 0.6))[:beam]
    assert [(h.log_probs, h.ids) for h in found] == best


def allocated_one_by_one(met: list[int], going_on: list[bool], width: int) -> list[int]:
    """The definition: banks take turns, each with its best candidate that continues and those that end before it."""
    queues: dict[int, list[int]] = {}
    for i, bank in enumerate(met):
        queues.setdefault(bank, []).append(i)
    turns = sorted(queues, key=lambda bank: (bank != max(queues), queues[bank][0]))
    waiting, taken, places = [queues[bank] for bank in turns], [], width
    while any(waiting) and places:
        for queue in waiting:
            while queue and not going_on[queue[0]]:
                taken.append(queue.pop(0))
            if queue and places:
                taken.append(queue.pop(0))
                places -= 1
    return sorted(taken)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), min_size=1, max_size=12), st.integers(1, 6))
def test_banks_take_turns(candidates: list[tuple[int, bool, bool]], width: int) -> None:
    met, going_on, real = (torch.tensor([column]) for column in zip(*candidates, strict=True))
    found = allocate_banks(met, going_on, real, width, 4)[0].nonzero()[:, 0].tolist()
    there = [i for i, (_, _, is_real) in enumerate(candidates) if is_real]
    chosen = allocated_one_by_one([candidates[i][0] for i in there], [candidates[i][1] for i in there], width)
    assert found == [there[i] for i in chosen]


def test_what_cannot_be_met_is_cut_off() -> None:
    """A reserved token that is wanted as a term too: it may not be said, and what could be is."""
    model, src, mask = Chain(3), *pad_sources([[3]])
    impossible = All((EachOnce(frozenset(), frozenset({5})), Terms.of([[(5,)], [(6, 6)]])))
    for beam in (1, 3):
        (found,) = search(model, requests_of(src, mask, [impossible]), SearchOptions(beam, 0.6, nbest=beam))
        assert found
        assert all(not ended(h) and needs(impossible, h.ids) == 1 for h in found)
    (drawn,) = search(model, requests_of(src, mask, [impossible]), SearchOptions(1, 0.6, nbest=2, sampling=Sampling()))
    assert len(drawn) == 2


def test_a_damaged_model_is_still_refused() -> None:
    model, src, mask = Chain(3), *pad_sources([[3]])
    with torch.no_grad():
        model.tables.fill_(float("nan"))
    with pytest.raises(BundleError, match="NaN"):
        search(model, requests_of(src, mask, [Terms.of([[(5,)]])]), SearchOptions(2, 0.6))
