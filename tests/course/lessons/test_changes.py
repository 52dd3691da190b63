"""What exercises "change the input until …" measure, with the small bundled model."""

from __future__ import annotations

from typing import Any

import pytest

import regard
from regard.course.lessons.changes import CHANGES
from regard.translator import Translator


@pytest.fixture(scope="module")
def model() -> Translator:
    return regard.load("en-fr-classic", device="cpu", engine="native")


CASES: list[tuple[str, str, dict[str, Any], bool, str]] = [
    ("words", "The cat sleeps.", {"least": 4}, False, "3 words; at least 4"),
    ("words", "The cat sleeps.", {"least": 2, "most": 3}, True, "; at least 2 and at most 3"),
    ("bleu", "The cat is on mat", {"reference": "The cat is on the mat", "above": 60, "max_order": 3}, True,
     "BLEU is 65.0 (precisions 5/5, 3/4, 2/3, brevity penalty 0.819); above 60"),
    ("bleu", "The cat is on the mat", {"reference": "The cat is on the mat", "below": 60}, False, "BLEU is 100.0"),
    ("pieces", "The cat sleeps.", {"least": 6}, False, "4 pieces (`▁The` `▁cat` `▁sleeps` `.`); at least 6"),
    ("pieces", "The photosynthesiser hummed.", {"least": 6}, True, "10 pieces"),
    ("translation_has", "The black cat sleeps.", {"word": "chat noir"}, True, "“Le chat noir dort.”"),
    ("translation_has", "The black cat sleeps.", {"word": "noir", "absent": True}, False, "one without “noir”"),
    ("aligned", "The black cat sleeps.", {"source": "black", "target": "noir"}, True, "is linked to “noir”"),
    ("aligned", "The black cat sleeps.", {"source": "black", "target": "chat"}, False, "; “chat”"),
    ("aligned", "The cat sleeps.", {"source": "black", "target": "noir"}, False, "linked to no word"),
    ("greedy_and_beam", "The black cat sleeps.", {"same": True}, True, "; the same translation"),
    ("greedy_and_beam", "Are you sure?", {"beam": 3}, True, "“Es-tu sûr ?” (log P -2.21)"),
    ("reordered", "The cat sees the dog.", {"other": "The dog sees the cat."}, True, "two translations"),
    ("reordered", "The dog sees the cat.", {"other": "The dog sees the cat."}, False, "move a word"),
    ("reordered", "The dog sees.", {"other": "The dog sees the cat."}, False, "Use the words of"),
    ("confidence", "The black cat sleeps.", {"above": 0.5}, True, "with confidence"),
    ("weight", "The black cat sleeps.", {"query": "noir", "key": "black", "above": 0.5}, True, "(layer 1, head 2)"),
    ("weight", "The black cat sleeps.", {"query": "noir", "key": "cat", "above": 0.5}, False, "; above 0.5"),
    ("weight", "The cat sleeps.", {"query": "noir", "key": "black", "above": 0.5}, False, "no pair of the words"),
    ("weight", "The black cat sleeps.", {"query": "cat", "key": "black", "above": 0.3, "kind": "encoder"}, True,
     "The weight of “cat” on “black” is"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "arguments", "right", "said"), CASES)
def test_a_condition(
    name: str, text: str, arguments: dict[str, Any], right: bool, said: str, model: Translator
) -> None:
    change = CHANGES[name]
    translator = () if change.needs == "nothing" else (model,)
    found = change.function(text, *translator, **arguments)
    assert (found.right, said in f"{found.said}; {found.needed}") == (right, True), found


def test_every_condition_is_tested_both_ways() -> None:
    seen = {(name, right) for name, _, _, right, _ in CASES}
    assert {name for name, _ in seen} == set(CHANGES)
