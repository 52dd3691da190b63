"""Numbers as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from regard.course.lessons.read_numbers import count_numbers, read_numbers

SAME = [
    ("0.65", 0.65), ("0,65", 0.65), (".65", 0.65), ("65%", 0.65), ("65 %", 0.65), ("≈ 0.65", 0.65), ("13/20", 0.65),
    ("-2", -2), ("−2", -2), ("1e-3", 0.001), ("10^-3", 0.001), ("10⁻³", 0.001), ("2 × 10⁶", 2e6), ("2*10^6", 2e6),
    ("0.65.", 0.65), ("c = 0,65", 0.65), ("BLEU: 65 percent", 0.65), ("9 × 256", 2304), ("9 x 256", 2304),
    ("37 000", 37000), ("37,000", 37000), ("37_000", 37000), ("1,250.5", 1250.5), ("1\u202f000", 1000),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SAME)
def test_one_number(text: str, value: float) -> None:
    assert any(one == pytest.approx((value,)) for one in read_numbers(text, 1))


@pytest.mark.parametrize(
    "text",
    ["[0.665, 0.245, 0.09]", "0.665 0.245 0.09", "0,665; 0,245; 0,09", "0,665, 0,245, 0,09", "66.5% 24.5% 9%",
     "a(1) = 0.665, a(2) = 0.245 and a(3) = 0.09.", "weights = [0.665 | 0.245 | 0.09]", "0.665 x 0.245 × 0.09",
     "(0.665,0.245,0.09)", "0,665 0,245 9/100", " [ 0.665 ,\t0.245 , 0.090 ] "],
)  # fmt: skip
def test_several_numbers(text: str) -> None:
    assert any(one == pytest.approx((0.665, 0.245, 0.09)) for one in read_numbers(text, 3))


@pytest.mark.parametrize("text", ["3×5, 3 x 32", "(3, 5), (3, 32)", "[3,5] and [3,32]", "a = (3, 5), b = 3*32"])
def test_shapes(text: str) -> None:
    assert (3, 5, 3, 32) in read_numbers(text, 4)


@pytest.mark.parametrize(
    "given", ["", "two", "1/0", "nan", "inf", "1/2/3", "--2", "1..2", None, True, float("inf"), [None], {}, "1" * 999]
)
def test_what_is_no_number(given: object) -> None:
    assert read_numbers(given, 1) == []


def test_how_many() -> None:
    assert [count_numbers(one) for one in ("1 2 3", "0,5; 0,5", "a b", [1, 2], 7)] == [3, 2, 0, 2, 1]


@given(some.one_of(some.text(max_size=60), some.text("0123456789.,;/%e^-+ []", max_size=60)), some.integers(1, 4))
def test_any_text_is_read_or_not(text: str, count: int) -> None:
    assert all(len(one) == count for one in read_numbers(text, count))
    assert count_numbers(text) >= 0
