"""A trained model's attention in words."""

from __future__ import annotations

import numpy as np
import pytest

from regard.decode.translate import Translator
from regard.explain.attention import View
from regard.explain.look import default_layer, look, measure_view
from support import LINES


def test_a_look_covers_all_words_and_all_mass(translator: Translator) -> None:
    source, target = LINES[2]
    found = translator.translate([source])[0]
    seen = look(translator.bundle, source, found.candidates[0].ids)
    assert seen.attention.source_words == ("The", "dog", "sees", "the", "cat", ".")
    assert seen.attention.target_words == ("Le", "chien", "voit", "le", "chat", ".")
    assert found.text == target
    np.testing.assert_allclose(seen.attention.weights.sum(axis=1) + seen.attention.eos_mass, 1, atol=1e-5)
    assert seen.aer is None
    assert seen.view == View(1)


def test_the_card_chooses_the_view(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"layer": 0, "head": 1, "row": "having-read", "aer": 0.25}
    monkeypatch.setitem(translator.bundle.card, "attention_view", chosen)
    ids = translator.tokenizer.encode_target(["Le chat dort."])[0]
    seen = look(translator.bundle, "The cat sleeps.", ids)
    assert (seen.view, seen.aer) == (View(0, 1, "having-read"), 0.25)


def test_the_best_view_is_measured_apart(translator: Translator) -> None:
    gold = [(s, t, "0-0 1-1 2-2 3-3") for s, t in (LINES[0], LINES[3])]  # word for word
    choice, aer = measure_view(translator.bundle, gold, gold)
    assert aer == choice.aer  # the same sentences
    assert choice.aer == min(choice.by_view.values())
    assert len(choice.by_view) == 2 * (1 + 2) * 2  # layers × (mean and heads) × meanings of a row


@pytest.mark.parametrize(("layers", "layer"), [(1, 0), (2, 1), (3, 1), (6, 4)])
def test_the_default_layer(layers: int, layer: int) -> None:
    assert default_layer(layers) == layer
