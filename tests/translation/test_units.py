"""Texts as units: nothing is lost, nothing is too long, and a long text is never held as a whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.slots import SLOTS
from regard.text.tokenizer import Tokenizer
from regard.translation.options import TranslateOptions
from regard.translation.prepare import Reader
from regard.translation.units import Unit, UnitMaker
from regard.translator import Translator


def maker(tokenizer: Tokenizer, most: int, **options: bool) -> UnitMaker:
    return UnitMaker(tokenizer.plain, (), most, TranslateOptions(**options), Reader("en", "fr", slots=len(SLOTS)))


def units(make: UnitMaker, *texts: str) -> list[Unit]:
    return list(make.units(enumerate(texts)))


# No full stop: "3. " and "a. " begin items of a list, and such marks stand outside units.
TEXTS = st.text(alphabet="ab ?!é\u0301\n,3@", max_size=120)


@given(st.lists(TEXTS, max_size=3), st.integers(8, 20))
def test_units_are_the_visible_text_in_order(tokenizer: Tokenizer, texts: list[str], most: int) -> None:
    found = units(maker(tokenizer, most), *texts)
    for number, text in enumerate(texts):
        spans = [unit.span for unit in found if unit.text == number]
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
        gaps = zip([0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)], strict=True)
        assert not any(character.isalnum() for start, end in gaps for character in text[start:end])
    assert all(len(unit.ids) < most for unit in found)


@pytest.mark.parametrize("unit", ["word ", "a", "é. ", "😀", "猫", "3 ", "@a "])
def test_the_parts_of_a_very_long_line_are_the_line(translator: Translator, unit: str) -> None:
    line = unit * (20_000 // len(unit.encode()))
    make = maker(translator.tokenizer, 100)
    found = units(make, line)
    assert all(len(part.ids) < 100 for part in found)
    assert "".join("".join(part.prepared.source.split()) for part in found) == "".join(line.split())


def test_more_spans_than_slots_are_shared_over_parts(tokenizer: Tokenizer) -> None:
    line = "Call " + ", ".join(f"{n} or {n + 1}" for n in range(10, 50, 2)) + " now."
    found = units(maker(tokenizer, 200), line)
    assert len(found) > 1
    assert {unit.sentence for unit in found} == {0}
    assert all(0 < len(unit.prepared.inner) <= len(SLOTS) for unit in found)
    assert sum(len(unit.prepared.protected_tokens) for unit in found) == 40


def test_units_come_as_they_are_needed(tokenizer: Tokenizer) -> None:
    taken: list[int] = []

    def texts() -> object:
        for number in range(1000):
            taken.append(number)
            yield number, "The cat sleeps."

    made = maker(tokenizer, 50).units(texts(), at_a_time=10)  # type: ignore[arg-type]
    next(made)
    assert len(taken) <= 10


def test_a_long_sentence_is_cut_before_a_conjunction_of_its_language(tokenizer: Tokenizer) -> None:
    text = "Der kleine Hund schläft hier ganz lange und die schwarze Katze frisst dort"
    make = UnitMaker(tokenizer.plain, (), 60, TranslateOptions(), Reader("de", "en"))
    assert [text[slice(*unit.span)] for unit in units(make, text)][1].startswith("und die")


def test_items_of_lists_and_signatures(tokenizer: Tokenizer) -> None:
    make = UnitMaker(tokenizer, (), 100, TranslateOptions(mend=True), Reader("en", "fr"))
    found = units(make, "- two eggs\n- Milk\n\nKind regards,\nMark")
    assert [unit.prepared.fragment_in for unit in found] == ["fr", "fr", "fr", None]
    assert found[0].prepared.without_additions("Deux œufs.") == "deux œufs"
    assert [unit.prepared.read for unit in found][2:] == ["Kind regards,", ""]
    assert found[-1].prepared.restore("").text == "Mark"


def phrase(tokenizer: Tokenizer, text: str, **options: object) -> tuple[str, list[str]]:
    """The translation of the first unit by the phrase table, and the kinds of its protected spans."""
    chosen = TranslateOptions(**({"mend": True, "phrases": True} | options))  # type: ignore[arg-type]
    first = units(UnitMaker(tokenizer.plain, (), 100, chosen, Reader("en", "fr", slots=len(SLOTS))), text)[0]
    assert bool(first.prepared.known) is not bool(first.ids)
    return first.prepared.known, [one.kind for one in first.prepared.protected_tokens]


def test_fragments_of_the_phrase_table_are_not_read(tokenizer: Tokenizer) -> None:
    assert phrase(tokenizer, "• Log out") == ("Se déconnecter", ["phrase"])
    assert phrase(tokenizer, "Phone: 555-0199") == ("Téléphone : 555-0199", ["phrase", "phone"])
    assert phrase(tokenizer, "Settings\nThe cat sleeps.")[0] == "Paramètres"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Settings are here", {}),
        ("Settings. Log out", {}),
        ("Settings", {"phrases": None}),
        ("Settings", {"phrases": False}),
        ("Settings", {"mend": False}),
        ("Settings", {"glossary": {"settings": "réglages"}}),
        ("Please wait", {"formality": "informal"}),
        ("Phone: 1,250", {"localize": True}),
    ],
)
def test_the_phrase_table_does_not_apply(tokenizer: Tokenizer, text: str, options: dict[str, object]) -> None:
    assert phrase(tokenizer, text, **options)[0] == ""
