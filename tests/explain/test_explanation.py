"""From a model and a sentence to what can be drawn; what is said of it is true of the view that is shown."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import regard.explain
from regard.align.attention import View
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.explanation import explain
from regard.models.table import ARCHITECTURES, make_model
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator

SENTENCE = "The dog sees the cat."


def test_the_public_function_is_this_one(translator: Translator) -> None:
    found = regard.explain.explain(translator, SENTENCE)
    assert found.trace.target == translator.translate([SENTENCE])[0].text
    np.testing.assert_array_equal(found.grid().values, explain(translator.bundle, SENTENCE).grid().values)


def test_an_error_rate_is_said_of_the_measured_view_alone(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {"layer": 0, "head": 1, "row": "having-read", "aer": 0.25, "on": "ten pairs"}
    monkeypatch.setitem(translator.bundle.card, "attention_view", chosen)
    found = explain(translator, SENTENCE)
    assert found.grid().caption.startswith("layer 1 · head 2 · having read · AER 25.0% on ten pairs")
    for other in (found.grid(layer=1), found.grid(head=0), found.grid(row="predicting")):
        assert "AER not evaluated" in other.caption
    assert found.chosen("cross", layer=1) == View(1, None, "having-read")  # a head of another layer is not meant
    known = [t.view for layer in found.sheet().layers for t in layer if t.trust is not None]
    assert known == [View(0, 1, "having-read")]
    for kind in ("encoder", "decoder"):
        assert all(t.trust is None for layer in found.sheet(kind).layers for t in layer)  # type: ignore[arg-type]
    assert all(t.trust is None for layer in found.sheet(row="predicting").layers for t in layer)
    assert "layer 1 head 2: AER 25.0% on ten pairs, others not evaluated" in found.arcs("chien", "cross").caption
    assert "AER not evaluated" in found.arcs("chien", "cross", 1).caption
    assert "AER" not in found.arcs("dog").caption


def test_a_given_translation_is_forced(translator: Translator) -> None:
    found = explain(translator, SENTENCE, "Le chat dort.")
    assert (found.trace.target, found.trace.how) == ("Le chat dort.", "forced")


def test_arcs_are_of_all_heads_unless_some_are_named(translator: Translator) -> None:
    found = explain(translator, SENTENCE)
    assert len(found.arcs("dog").heads) == len(found.trace.encoder[-1])
    assert found.arcs("dog", heads=[1]).heads == (View(len(found.trace.encoder) - 1, 1),)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("  ", {}, "nothing to explain"),
        ("cat " * 200, {}, "tokens, but the model reads fewer than 100 at a time"),
        (SENTENCE, {"target": "Le chat.", "beam": 2}, "not searched for"),
    ],
)
def test_what_cannot_be_explained(translator: Translator, text: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        explain(translator, text, **options)  # type: ignore[arg-type]


def test_a_model_without_self_attention(tokenizer: Tokenizer) -> None:
    torch.manual_seed(4)
    config = ARCHITECTURES["rnn-attention"].presets["tiny"]
    model = make_model("rnn-attention", config, tokenizer).eval()
    found = explain(Bundle("rnn-attention", config, model, tokenizer), SENTENCE, "Le chien voit le chat.")
    assert found.grid().rows == ("Le", "chien", "voit", "le", "chat", ".")
    assert len(found.sheet().layers) == 1
    for ask in (lambda: found.grid("encoder"), lambda: found.sheet("decoder"), lambda: found.arcs("dog")):
        with pytest.raises(InputError, match=r"there is no (en|de)coder attention in this model; it has cross"):
            ask()


def test_a_layer_or_head_that_is_not_there(translator: Translator) -> None:
    found = explain(translator, SENTENCE)
    for ask in (lambda: found.grid(layer=9), lambda: found.arcs("dog", layer=9), lambda: found.arcs("dog", heads=[9])):
        with pytest.raises(InputError, match=r"must be from 0 to \d"):
            ask()
    with pytest.raises(InputError, match="kind must be"):
        found.grid("other")  # type: ignore[arg-type]
