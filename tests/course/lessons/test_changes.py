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
    ("bleu", "The cat is on mat", {"reference": "The cat is on the mat", "above": 50}, True,
     "BLEU is 57.9 (precisions 5/5, 3/4, 2/3, 1/2, brevity penalty 0.819); above 50"),
    ("bleu", "The cat", {"reference": "The cat is on the mat", "above": 50}, False, "BLEU is 0.0"),
    ("pieces", "The cat sleeps.", {"least": 6}, False, "4 pieces (`▁The` `▁cat` `▁sleeps` `.`); at least 6"),
    ("pieces", "The photosynthesiser hummed.", {"least": 6}, True, "10 pieces"),
    ("translation_has", "The black cat sleeps.", {"word": "chat noir"}, True, "“Le chat noir dort.”"),
    ("translation_has", "The black cat sleeps.", {"word": "noi"}, False, "one with “noi”"),
    ("aligned", "The black cat sleeps.", {"source": "black", "target": "noir"}, True, "is linked to “noir”"),
    ("aligned", "The black cat sleeps.", {"source": "black", "target": "chat"}, False, "; “chat”"),
    ("aligned", "The cat sleeps.", {"source": "black", "target": "noir"}, False, "linked to no word"),
    ("greedy_and_beam", "The black cat sleeps.", {}, False, "; two different translations"),
    ("greedy_and_beam", "Are you sure?", {"beam": 3}, True, "“Es-tu sûr ?” (log P -2.21)"),
    ("reordered", "The cat sees the dog.", {"other": "The dog sees the cat."}, True, "two translations"),
    ("reordered", "The dog sees the cat.", {"other": "The dog sees the cat."}, False, "move a word"),
    ("reordered", "The dog sees.", {"other": "The dog sees the cat."}, False, "Use the words of"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "arguments", "right", "said"), CASES)
def test_a_condition(
    name: str, text: str, arguments: dict[str, Any], right: bool, said: str, model: Translator
) -> None:
    found = CHANGES[name](text, model, **arguments)
    assert (found.right, said in f"{found.said}; {found.needed}") == (right, True), found


def test_every_condition_is_tested_both_ways() -> None:
    seen = {(name, right) for name, _, _, right, _ in CASES}
    assert {name for name, _ in seen} == set(CHANGES)
