"""Constraints by their definition: what was said is searched for the phrases in every way, token by token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.search.constraints import EOS, All, Constraint, EachOnce, Never, NoRepeat, urgent
from regard.search.required_terms import Form, Terms, WordEdges

TOKENS = st.integers(3, 5)
SAID = st.lists(TOKENS, max_size=9)
FORMS = st.lists(st.lists(TOKENS, min_size=1, max_size=3).map(tuple), min_size=1, max_size=2)
PHRASES = st.lists(FORMS, min_size=1, max_size=3)


def told(constraint: Constraint, tokens: Sequence[int]) -> Constraint:
    for token in tokens:
        constraint = constraint.after(token)
    return constraint


def holds(said: Sequence[int], phrases: Sequence[Sequence[Sequence[int]]]) -> bool:
    """Whether every phrase has a place of its own in `said`."""
    if not phrases:
        return True
    for form in phrases[0]:
        for at in range(len(said) - len(form) + 1):
            if tuple(said[at : at + len(form)]) == tuple(form):
                gone = [*said[:at], *[-at - 1 - i for i in range(len(form))], *said[at + len(form) :]]
                if holds(gone, phrases[1:]):
                    return True
    return False


@settings(deadline=None)
@given(PHRASES, SAID)
def test_terms_are_met_exactly_when_each_phrase_has_a_place(phrases: list, said: list[int]) -> None:
    terms = told(Terms.of(phrases), said)
    assert (terms.needs == 0) == holds(said, phrases)
    assert (EOS in terms.forbidden()) == (terms.needs > 0)


@settings(deadline=None)
@given(PHRASES, SAID, st.sets(TOKENS), st.sets(TOKENS))
def test_what_is_needed_can_always_be_said(phrases: list, said: list[int], begins: set, ends: set) -> None:
    """Whatever was said before, `needs` tokens suffice; and one token costs at most the margin."""
    edges = WordEdges(frozenset(begins - {form[0] for forms in phrases for form in forms}), frozenset(ends))
    terms: Constraint = Terms.of(phrases, edges)
    for token in said:
        before, terms = terms.needs, terms.after(token)
        assert before - 1 <= terms.needs <= before + terms.margin
    for left in range(terms.needs, 0, -1):
        assert terms.needs == left
        terms = terms.after(min(urgent(terms)))
    assert terms.needs == 0
    assert urgent(terms) == {EOS}


def test_a_phrase_may_begin_again_in_its_middle() -> None:
    terms = Terms.of([[(3, 3, 4)]])
    assert [told(terms, said).needs for said in ([3], [3, 3], [3, 3, 3], [3, 3, 3, 4], [3, 4])] == [2, 1, 1, 0, 3]


def test_a_longer_term_counts_once() -> None:
    new, york, times, other = 3, 4, 5, 6
    both = Terms.of([[(new, york)], [(new, york, times)]])
    assert told(both, [new, york, times]).needs == 2
    assert told(both, [new, york, times, other, new, york]).needs == 0
    assert told(both, [new, york, new, york, times]).needs == 0
    assert told(Terms.of([[(new, york)]] * 2), [new, york, other, new, york]).needs == 0
    assert told(Terms.of([[(new, york)]] * 2), [new, york, other]).needs == 2


def test_a_term_is_a_whole_word() -> None:
    chat, eau, gentil, homme, apostrophe, chat_large = 3, 4, 5, 6, 7, 8
    words = frozenset({chat, eau, gentil, homme})
    edges = WordEdges(continues=frozenset({eau, homme}), ends_in_word=words, joins=frozenset({apostrophe}))
    cat = Terms.of([[Form((chat,)), Form((chat_large,), "first")]], edges)
    assert told(cat, [chat]).needs == 0
    assert told(cat, [chat, eau]).needs == 1
    assert told(cat, [chat, eau, chat]).needs == 0
    assert (told(cat, [chat_large]).needs, told(cat, [eau, chat_large]).needs) == (0, 1)
    assert (cat.wanted(), cat.after(eau).wanted()) == ({chat, chat_large}, {chat})
    man = Terms.of([[Form((9,)), Form((homme,), "joined")]], edges)
    assert (told(man, [apostrophe, homme]).needs, told(man, [gentil, homme]).needs) == (0, 1)
    assert homme not in man.after(gentil).wanted()


def test_slots_once_each_and_no_others() -> None:
    slots = EachOnce(frozenset({7, 8}), frozenset({6, 7, 8, 9}))
    assert slots.forbidden() == {EOS, 6, 9}
    assert told(slots, [5, 8]).forbidden() == {EOS, 6, 8, 9}
    assert told(slots, [8, 7]).forbidden() == {6, 7, 8, 9}
    assert told(slots, [8, 7]).met == 2


@settings(deadline=None)
@given(st.integers(1, 3), st.integers(1, 2), st.lists(st.integers(3, 4), max_size=12))
def test_no_repeat_forbids_exactly_what_would_repeat(n: int, times: int, said: list[int]) -> None:
    forbidden = told(NoRepeat(n, times), said).forbidden()
    for token in (3, 4, 5):
        runs = Counter(tuple([*said, token][i : i + n]) for i in range(len(said) + 2 - n))
        assert (token in forbidden) == (runs[tuple([*said, token][-n:])] > times and len(said) + 1 >= n)


def test_no_repeat_allows_what_the_source_repeats() -> None:
    assert NoRepeat.for_source(1, [5, 6, 5, 5]).times == 3
    assert NoRepeat.for_source(3, [5, 6]).times == 1
    with pytest.raises(InputError, match="from 1 on"):
        NoRepeat(0)


@settings(deadline=None)
@given(st.sets(st.lists(TOKENS, min_size=1, max_size=3).map(tuple), max_size=3), SAID)
def test_never_forbids_exactly_what_would_complete_a_phrase(sequences: set, said: list[int]) -> None:
    forbidden = told(Never(frozenset(sequences)), said).forbidden()
    for token in (3, 4, 5):
        longer = (*said, token)
        assert (token in forbidden) == any(longer[-len(s) :] == s for s in sequences)
    wanted = All((Terms.of([[(3, 4)]]), Never(frozenset({(3,), (5,)}))))
    assert wanted.forbidden() == {EOS, 5}


def test_a_term_twice_is_stronger_than_no_repeat() -> None:
    both = All((Terms.of([[(3, 4)], [(3, 4)]]), NoRepeat(2), EachOnce(frozenset({7}), frozenset({7, 8}))))
    once = told(both, [3, 4, 3])
    assert (once.needs, once.met, once.margin) == (2, 3, 2)
    assert once.forbidden() == {EOS, 8}
    assert once.wanted() == {4, 7}
    assert told(once, [4, 7]).forbidden() == {7, 8}
    assert urgent(once) == {4}  # 7 would break the phrase off


def test_no_phrase_asks_for_nothing_and_a_phrase_of_nothing_is_refused() -> None:
    assert (Terms.of([]).after(5).needs, Terms.of([]).wanted(), Terms.of([]).forbidden()) == (0, set(), set())
    for forms in ([], [()], [Form((3,), "first")]):
        with pytest.raises(InputError, match="at least one token"):
            Terms.of([forms])
