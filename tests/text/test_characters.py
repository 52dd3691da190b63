"""Characters counted together are those counted line by line."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import InputError
from regard.text.characters import CharacterCounts
from regard.text.normalize import nfc
from regard.text.pieces import ESCAPE, to_pieces_form
from regard.text.slots import SLOTS, without_slots

ODD = st.sampled_from(
    ["\n", " ", "\u2581", ESCAPE, SLOTS[0], "\u0301", "e", "\u0915\u093c", "\U0001f600", "\uac00", "\u11a8"]
)
LINES = st.lists(st.lists(ODD | st.characters(exclude_categories=["Cs"]), max_size=6).map("".join), max_size=5)


@given(st.lists(LINES, max_size=3))
def test_together_as_line_by_line(groups: list[list[str]]) -> None:
    counts, one_by_one = CharacterCounts(), Counter[str]()
    for lines in groups:
        counts.add(lines)
        for line in lines:
            one_by_one.update(to_pieces_form(nfc(without_slots(line))))
    assert counts.counter() == one_by_one


def test_a_lone_surrogate_is_named_in_its_line() -> None:
    with pytest.raises(InputError, match=r"U\+D800 at character 2"):
        CharacterCounts().add(["good", "a\ud800", "ende"])
