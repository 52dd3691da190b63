"""A model's diagram: sizes without weights, a trained model with its tokens, and errors."""

from __future__ import annotations

import pytest

from regard.errors import RecipeError
from regard.explain.diagram import EXAMPLE, diagram_data, diagram_of, diagram_of_size, of_kind
from regard.models.table import ARCHITECTURES
from regard.translator import Translator


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_data_sum_to_the_model(architecture: str) -> None:
    found = diagram_of_size([architecture], "tiny", vocabulary=320)
    (member,) = diagram_data(found)["members"]
    layers = [layer for one in member["sides"] for layer in one["layers"]]
    for name in ("parameters", "flops"):
        total = sum(layer["count"] * block[name] for layer in layers for block in layer["blocks"])
        total += member["bridge"][name] if member["bridge"] else 0
        assert total == pytest.approx(diagram_data(found)[name], rel=1e-12)


def test_an_ensemble_has_members() -> None:
    found = diagram_of_size(["transformer", "rnn"], "tiny", vocabulary=320)
    members = diagram_data(found)["members"]
    assert [member["weight"] for member in members] == [0.5, 0.5]
    assert found.name == "transformer tiny + rnn tiny"


def test_a_trained_model_has_its_tokens_and_a_real_step(translator: Translator) -> None:
    found = diagram_of(translator, "the cat sleeps .")
    assert found.source[-1] == found.predicted[-1] == "EOS"
    assert found.read[0] == "BOS"
    assert found.read[1:] == found.predicted[:-1]
    assert found.parameters == translator.bundle.model.parameter_count()
    assert found.step is not None
    assert len(found.step.keys) == len(found.step.numbers.term("α")) == len(found.source)


def test_a_large_preset_needs_no_memory() -> None:
    found = diagram_of_size(["gnmt"], "gnmt", vocabulary=32_000)
    assert round(found.parameters / 1e6) == 281  # as in models/presets.toml
    assert len(of_kind(found.outline, "Decoder", "recurrent")) == 8


def test_words_of_a_size() -> None:
    found = diagram_of_size(["rnn"], "tiny")
    assert " ".join(found.source) == f"{EXAMPLE[0][:-1]} . EOS"
    assert len(found.source) != len(found.predicted)  # so that a shape tells which is which
    own = diagram_of_size(["rnn"], "tiny", "I love NLP.")
    assert own.predicted == ("y(1)", "y(2)", "y(3)", "y(4)", "EOS")


@pytest.mark.parametrize(("architecture", "preset", "said"), [
    ("transformer", "bas", 'did you mean "base"'),
    ("rnn", "base", "known: small, sutskever, tiny"),
])  # fmt: skip
def test_unknown_presets(architecture: str, preset: str, said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        diagram_of_size([architecture], preset)
