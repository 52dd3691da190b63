"""Constraints as tables: states, masks and repeated runs are those of the constraints that they stand for."""

from __future__ import annotations

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.batch import BOS, EOS
from regard.search.batch_rows import SearchItem
from regard.search.constraint_table import NEEDS, ConstraintTable, RowRules
from regard.search.constraints import All, Constraint, EachOnce, Never, NoRepeat, closing_tokens
from regard.search.engine import SearchRequest
from regard.search.options import Sampling, SearchOptions
from regard.search.prefix import Begins, PieceTable
from regard.search.required_terms import Form, Terms, WordEdges
from regard.search.sampling import Samples
from regard.search.strategy import strategy_of

V = 12
TOKENS = st.integers(3, 8)
PHRASES = st.lists(
    st.lists(
        st.builds(Form, st.lists(TOKENS, min_size=1, max_size=3).map(tuple), st.sampled_from(["anywhere", "joined"])),
        max_size=2,
    ).map(lambda forms: [Form((9,)), *forms]),
    min_size=1,
    max_size=3,
)
EDGES = st.builds(WordEdges, *[st.frozensets(st.integers(3, V - 1)) for _ in range(3)])
PIECES = PieceTable([b"", b"", b"", b"a", b"b", b"ab", b"abc", b"c", b"bc", b"aa", b"d", b"abcd"])
PARTS = st.one_of(
    st.builds(Terms.of, PHRASES, EDGES),
    st.frozensets(st.integers(9, 11)).map(lambda left: EachOnce(left, frozenset({9, 10, 11}))),
    st.frozensets(st.lists(TOKENS, min_size=1, max_size=3).map(tuple), max_size=3).map(Never),
    st.builds(Begins, st.just(PIECES), st.sampled_from([b"ab", b"abcda"]), st.integers(0, 2)),
    st.builds(NoRepeat, st.integers(1, 3), st.integers(1, 2)),
)
CONSTRAINTS = st.one_of(PARTS, st.lists(PARTS, min_size=2, max_size=3).map(lambda parts: All(tuple(parts))))


def expected(constraint: Constraint, scores: torch.Tensor, room: int) -> torch.Tensor:
    """One row's scores (V,), masked by the definitions."""
    forbidden = {0, BOS} | constraint.forbidden()
    if room <= constraint.needs + constraint.margin and (constraint.needs or scores[EOS] > -math.inf):
        forbidden = {0, BOS} | set(range(V)) - closing_tokens(constraint)
    return scores.index_fill(0, torch.tensor(sorted(forbidden)), -math.inf)


@settings(deadline=None, max_examples=75)
@given(st.lists(CONSTRAINTS, min_size=1, max_size=3), st.data())
def test_rows_have_the_rules_of_their_constraints(constraints: list[Constraint], data: st.DataObject) -> None:
    width, limit = 2, 9
    items = [SearchItem(i, SearchRequest((5,), one), limit) for i, one in enumerate(constraints)]
    table = ConstraintTable(V, torch.device("cpu"))
    rules, memo = RowRules.begin(table, items, width)
    rows = Samples.begin(strategy_of(SearchOptions(1, 0.0)), Sampling(), width, items, table.device)
    rows.memo |= memo
    own = [[one] * width for one in constraints]
    for generated in range(6):
        table.compute(rows.memo["state"])
        room = data.draw(st.integers(0, 8))
        scores = torch.randn(len(items), width, V, generator=torch.Generator().manual_seed(generated))
        masked = rules.permitted(scores.clone(), rows, torch.full((len(items), width), room))
        needs = table.counts[rows.memo["state"], NEEDS]
        tokens = torch.full((len(items), width), EOS + 1)
        for i, row in ((i, row) for i in range(len(items)) for row in range(width)):
            assert needs[i, row] == own[i][row].needs
            assert torch.equal(masked[i, row], expected(own[i][row], scores[i, row], room))
            free = sorted(set(range(EOS + 1, V)) - own[i][row].forbidden()) or [EOS + 1]
            tokens[i, row] = data.draw(st.sampled_from(free))
            own[i][row] = own[i][row].after(int(tokens[i, row]))
        rows.memo["state"] = rules.following(rows.memo["state"], tokens)
        rows.token, rows.step = tokens.flatten(), rows.step + 1


def test_sentences_with_equal_constraints_share_their_states() -> None:
    table = ConstraintTable(V, torch.device("cpu"))
    slots = [EachOnce(frozenset({9, 10}), frozenset({9, 10, 11})) for _ in range(2)]
    assert table.add(slots[0])[0] == table.add(slots[1])[0]
    assert table.add(EachOnce(frozenset({9}), frozenset({9, 10, 11})))[0] != table.add(slots[0])[0]
