"""From sentence pairs to translations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regard.course.phrases import phrase_based
from regard.course.phrases.phrase_based import INITIAL_WEIGHTS, PhraseBased, PhraseBasedConfig
from regard.course.phrases.search import Weights
from regard.errors import InputError, RecipeError

ADJECTIVES = {"black": "noir", "white": "blanc", "small": "gris", "tired": "fatigué"}
NOUNS = {"cat": "chat", "dog": "chien", "horse": "cheval", "bird": "merle"}
PAIRS = [
    pair
    for noun, nom in NOUNS.items()
    for adjective, adjectif in ADJECTIVES.items()
    for pair in (
        (f"The {adjective} {noun} sleeps.", f"Le {nom} {adjectif} dort."),
        (f"I see the {noun}.", f"Je vois le {nom}."),
        (f"The {noun} is {adjective}.", f"Le {nom} est {adjectif}."),
    )
]


@pytest.fixture(scope="module")
def system() -> PhraseBased:
    return PhraseBased.train(PAIRS, PAIRS[:6], PhraseBasedConfig(rounds=2, n_best=10))


def test_it_moves_adjectives_and_writes_capitals(system: PhraseBased) -> None:
    assert system.translate(["I see the black horse.", "The white bird is tired."]) == [
        "Je vois le cheval noir.",
        "Le merle blanc est fatigué.",
    ]


def test_unknown_words_are_copied_and_empty_lines_stay_empty(system: PhraseBased) -> None:
    assert "Zanzibar" in system.translate_line("The Zanzibar sleeps.")
    assert system.translate(["", "  "]) == ["", ""]


def test_weights_were_tuned(system: PhraseBased) -> None:
    said: list[str] = []
    PhraseBased.train(PAIRS, PAIRS[:3], PhraseBasedConfig(rounds=1, n_best=5), said.append)
    assert [line.split(":")[0] for line in said if line.startswith("tuning")] == [
        "tuning, round 0 of 1",
        "tuning, round 1 of 1",
    ]


def test_one_round_goes_only_a_part_of_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A classifier that would turn every weight around does not take the decoder with it."""
    used: list[Weights] = []

    def turned_around(_: object, weights: Weights, seed: int) -> Weights:
        used.append(weights)
        return tuple(-weight for weight in weights)

    monkeypatch.setattr(phrase_based, "pro", turned_around)
    PhraseBased.train(PAIRS, PAIRS[:2], PhraseBasedConfig(rounds=3, n_best=2))
    assert [pytest.approx(INITIAL_WEIGHTS)] * 3 == used


def test_a_saved_translator_is_the_same(system: PhraseBased, tmp_path: Path) -> None:
    path = tmp_path / "phrases.npz"
    system.save(path)
    lines = ["The black dog sleeps.", "I see the small bird."]
    loaded = PhraseBased.load(path)
    assert loaded.translate(lines) == system.translate(lines)
    assert (loaded.config, loaded.weights, loaded.writing) == (system.config, system.weights, system.writing)


def test_bad_input_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a list"):
        PhraseBased.train(iter(PAIRS))
    with pytest.raises(RecipeError, match="longest"):
        PhraseBasedConfig(longest=0)
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK\x03\x04 nothing")
    for path, why in ((broken, "not a saved PhraseBased"), (tmp_path / "none.npz", "cannot read")):
        with pytest.raises(InputError, match=why):
            PhraseBased.load(path)


def test_there_is_a_weight_for_each_feature(system: PhraseBased) -> None:
    with pytest.raises(InputError, match=r"weights must be 8, .* but are 2"):
        replace(system, weights=(0.5, 0.5))
