"""The check of a translation: what find_occurrences, as often as it must, and what was invented."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.numbers import invented_numbers
from regard.text.protected_spans import protected_spans
from regard.text.span_matching import find_occurrences


@pytest.mark.parametrize(
    ("wanted", "kind", "target", "there"),
    [
        ("1,250", "number", "1\u202f250 personnes", True),
        ("1,250", "number", "1.250 Leute", True),
        ("1,250", "number", "1250", True),
        ("1,250", "number", "120 personnes", False),
        ("1,250", "number", "11,250", False),
        ("250", "number", "1 250", False),
        ("3.14", "number", "3,14", True),
        ("3.14", "number", "3.141", False),
        ("20%", "number", "20 % des gens", True),
        ("20%", "number", "20 des gens", False),
        ("20", "number", "20 %", True),
        ("5", "number", "5e étage", True),
        ("1939", "number", "de 1939-1945", True),
        ("19", "number", "1939", False),
        ("-5", "number", "−5 degrés", True),
        ("-5", "number", "5 degrés", False),
        ("$5", "amount", "5 $", True),
        ("$5", "amount", "5 €", False),
        ("3:45 pm", "time", "à 3:45\u00a0pm.", True),
        ("3:45", "time", "13:45", False),
        ("3:45", "time", "3:45:10", False),
        ("Ann", "name", "Anna", False),
        ("Ann", "name", "l'amie d'Ann.", True),
        ("Merkel", "name", "Merkels Wagen", True),
        ("Merkel", "name", "Merkelsen", False),
        ("Tom", "name", "私はTomです", True),
        ("https://a.example/b", "url", "(https://a.example/b).", True),
        ("https://a.example/b", "url", "https://a.example/b/c", False),
        ("a.example", "url", "www.a.example", False),
        ("{x}", "placeholder", "{{x}}", False),
        ("%s", "placeholder", "100 %s", True),
        ("👍", "emoji", "👍🏽", False),
        ("👍", "emoji", "👍👍", True),
        ("\ufffc", "object", "a\ufffcb", True),
    ],
)
def test_occurs(wanted: str, kind: str, target: str, there: bool) -> None:
    assert bool(find_occurrences(wanted, kind, target)) == there


@pytest.mark.parametrize(
    ("source", "target", "invented"),
    [
        ("He has two cats.", "Il a 2 chats.", []),
        ("He has two cats.", "Il a 3 chats.", ["3"]),
        ("I was born on May 3, 1998.", "Je suis né le 398.", ["398"]),
        ("There are 1,250 people.", "Il y a 1 250 personnes.", []),
        ("There are 1,250 people.", "Il y a 120 personnes.", ["120"]),
        ("It is 3:45 pm.", "Il est 15 h 45.", []),
        ("at half past seven in the evening", "à 19 h 30", []),
        ("twenty-one cats", "21 chats", []),
        ("from 1939 to 1945", "1939-1945", []),
        ("from 1939 to 1945", "1939-1946", ["1946"]),
        ("two hundred fifty", "250", []),
        ("Ten percent", "10 %", []),
        ("the 1950s", "les années 50", []),
    ],
)
def test_invented_numbers(source: str, target: str, invented: list[str]) -> None:
    assert [target[start:end] for start, end in invented_numbers(source, target)] == invented


def test_half_an_hour_is_counted_from_the_hour_before_in_german() -> None:
    assert invented_numbers("Um halb sieben.", "At 6:30, half past six.", ("de", "en")) == []
    assert invented_numbers("At half past six.", "Um halb sieben.", ("en", "de")) == []
    assert invented_numbers("At half past six.", "Um halb neun.", ("en", "de")) != []


def test_number_words_of_other_languages() -> None:
    assert invented_numbers("quatre-vingt-dix chats", "90 cats", ("fr", "en")) == []
    assert invented_numbers("einundzwanzig Katzen", "21 cats", ("de", "en")) == []
    assert invented_numbers("veinte gatos", "20 cats", ("es", "en")) == []
    assert invented_numbers("veinte gatos", "20 cats", ("xx", "en")) == [(0, 2)]


PIECES = [
    "1,250",
    "20%",
    "$5",
    "https://a.example/b",
    "@me",
    "{x}",
    "%s",
    "🍕",
    "GPT-4o",
    "3:45 pm",
    "the",
    "cat,",
    "4",
]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join))
def test_a_copy_keeps_everything(text: str) -> None:
    for span in protected_spans(text):
        assert (span.start, span.end) in find_occurrences(text[span.start : span.end], span.kind, text)
    assert invented_numbers(text, text) == []


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text(source: str, target: str) -> None:
    for span in protected_spans(source):
        spans = find_occurrences(source[span.start : span.end], span.kind, target)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
    invented_numbers(source, target)
