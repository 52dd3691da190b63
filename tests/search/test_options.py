"""Options of searches: each bad value is one line that says what is allowed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from regard.errors import InputError
from regard.search.options import Mbr, Sampling, SearchOptions


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"beam": 0}, "beam must be a whole number from 1 to 1,000, but is 0"),
        ({"beam": 2.0}, "beam must be a whole number"),
        ({"nbest": 5}, "nbest must be between 1 and the beam .4., but is 5; use a wider beam: 5"),
        ({"nbest": True}, "nbest must be a whole number"),
        ({"length_penalty": -0.1}, "length_penalty must be a number from 0 to 20, but is -0.1"),
        ({"length_penalty": math.nan}, "length_penalty must be a number from 0"),
        ({"coverage_penalty": -1}, "coverage_penalty must be a number from 0 to 100, but is -1"),
        ({"coverage_penalty": math.inf}, "coverage_penalty must be a number"),
        (
            {"repetition_penalty": 0.9},
            "repetition_penalty must be a number from 1 to 100, but is 0.9",
        ),
        ({"diversity": -0.5}, "diversity must be a number from 0"),
        ({"groups": 3}, "groups must divide the beam .4.: 1, 2, 4; but is 3"),
        ({"groups": 0}, "groups must be a whole number from 1 to 1,000, but is 0"),
        ({"groups": 8}, "groups must divide the beam"),
        ({"no_repeat": -1}, "no_repeat must be a whole number from 0"),
        ({"min_length": -1}, "min_length must be a whole number from 0 to 100,000, but is -1"),
        ({"max_length": 0}, "max_length must be a whole number from 1 to 100,000, but is 0"),
        ({"min_length": 9, "max_length": 8}, "min_length must be at most max_length .8., but is 9"),
        ({"sampling": 0.5}, "sampling must be a regard.Sampling"),
        ({"mbr": 32}, "mbr must be a regard.Mbr"),
        ({"mbr": Mbr()}, "mbr chooses among samples, so it needs sampling"),
        ({"mbr": Mbr(4), "sampling": Sampling(), "nbest": 5}, "nbest must be between 1 and the samples of MBR .4."),
        ({"sampling": Sampling(), "groups": 2}, "groups is of beam search, but translations are drawn"),
        ({"sampling": Sampling(), "coverage_penalty": 0.2}, "coverage_penalty is of beam search"),
        ({"sampling": Sampling(), "exact": True}, "exact is of beam search"),
        ({"sampling": Sampling(), "nbest": 1001}, "nbest must be a whole number from 1 to 1,000, but is 1001"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as problem:
        SearchOptions(**{"beam": 4, "length_penalty": 0.6} | options)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"temperature": 0.0}, "temperature must be above 0, but is 0; .* beam of 1"),
        ({"temperature": math.inf}, "temperature must be a number of at least 0, but is inf"),
        ({"temperature": math.nan}, "temperature must be a number of at least 0, but is nan"),
        ({"top_k": 0}, "top_k must be a whole number of at least 1, but is 0"),
        ({"top_p": 0.0}, "top_p must be above 0 and at most 1"),
        ({"top_p": 1.1}, "top_p must be a number from 0 to 1, but is 1.1"),
        ({"min_p": -0.1}, "min_p must be a number from 0 to 1, but is -0.1"),
        ({"min_p": 1.5}, "min_p must be a number from 0 to 1"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
    ],
)
def test_bad_sampling_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Sampling(**options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"samples": 0}, "samples must be a whole number from 2 to 1,000, but is 0"),
        ({"samples": 1}, "samples must be a whole number from 2"),
        ({"utility": "ter"}, 'utility must be "chrf" or "bleu", but is .ter.'),
    ],
)
def test_bad_mbr_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Mbr(**options)


def test_what_is_extended_at_a_time() -> None:
    assert SearchOptions(6, 0.6, groups=3).rows == 6
    assert SearchOptions(6, 0.6, nbest=32, sampling=Sampling()).rows == 32
    assert [SearchOptions(b, 0.6).strategy for b in (1, 4)] == ["greedy", "beam"]
