"""A model's attention in words: of a trained one, of every architecture, of an ensemble, and where there is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.align.attention import View
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.alignment import Trust
from regard.explain.trace import trace_sentence
from regard.explain.views import ViewedAttention, measure_view, view_attention
from regard.models.table import ARCHITECTURES, make_model
from regard.search.alignment_heads import default_layer
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator
from support import LINES, Call

BLIND = ("rnn", "bytenet")


def fresh(architecture: str, tokenizer: Tokenizer) -> Bundle:
    """An untrained model: it looks somewhere, and that is all that matters here."""
    torch.manual_seed(4)
    config = ARCHITECTURES[architecture].presets["tiny"]
    return Bundle(architecture, config, make_model(architecture, config, tokenizer).eval(), tokenizer)


def check(seen: ViewedAttention) -> None:
    """Every word is there, and all that was looked at is accounted for."""
    assert seen.attention.source_words == ("The", "dog", "sees", "the", "cat", ".")
    assert seen.attention.target_words == ("Le", "chien", "voit", "le", "chat", ".")
    np.testing.assert_allclose(seen.attention.weights.sum(axis=1) + seen.attention.eos_mass, 1, atol=1e-5)


def test_a_look_covers_all_words_and_all_mass(translator: Translator) -> None:
    source, target = LINES[2]
    found = translator.translate([source])[0]
    seen = view_attention(translator.bundle, source, found.candidates[0].ids)
    check(seen)
    assert found.text == target
    assert seen.trust is None
    assert seen.view == View(1)


def test_the_card_chooses_the_view(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"layer": 0, "head": 1, "row": "having-read", "aer": 0.25, "on": "ten pairs"}
    monkeypatch.setitem(translator.bundle.card, "attention_view", chosen)
    ids = translator.tokenizer.encode_target(["Le chat dort."])[0]
    seen = view_attention(translator.bundle, "The cat sleeps.", ids)
    assert (seen.view, seen.trust) == (View(0, 1, "having-read"), Trust(0.25, "ten pairs"))
    monkeypatch.setitem(translator.bundle.card, "attention_view", chosen | {"aer": None})
    seen = view_attention(translator.bundle, "The cat sleeps.", ids)
    assert (seen.view, seen.trust) == (View(0, 1, "having-read"), None)  # chosen, and not evaluated


def test_the_best_view_is_measured_apart(translator: Translator) -> None:
    gold = [(s, t, "0-0 1-1 2-2 3-3") for s, t in (LINES[0], LINES[3])]  # word for word
    choice, aer = measure_view(translator.bundle, gold, gold)
    assert aer == choice.aer  # the same sentences
    assert choice.aer == min(choice.by_view.values())
    assert len(choice.by_view) == 2 * (1 + 2) * 2  # layers × (mean and heads) × meanings of a row


@pytest.mark.parametrize(("layers", "layer"), [(1, 0), (2, 1), (3, 1), (6, 4)])
def test_the_default_layer(layers: int, layer: int, tokenizer: Tokenizer) -> None:
    assert default_layer(layers, fresh("transformer", tokenizer).model.last_layer_aligns) == layer
    assert default_layer(layers, fresh("convs2s", tokenizer).model.last_layer_aligns) == layers - 1


@pytest.mark.parametrize("architecture", [name for name in ARCHITECTURES if name not in BLIND])
def test_every_architecture_that_looks_can_be_seen(architecture: str, tokenizer: Tokenizer) -> None:
    bundle = fresh(architecture, tokenizer)
    source, target = LINES[2]
    (ids,) = tokenizer.encode_target([target])
    check(view_attention(bundle, source, ids))
    layers = {"convs2s": 3, "transformer": 2}  # the others look once
    assert len(trace_sentence(bundle, source, ids).cross) == layers.get(architecture, 1)


def test_an_ensemble_shows_the_layers_of_its_members(tmp_path: Path, tokenizer: Tokenizer) -> None:
    names = ("transformer", "rnn", "convs2s")
    for name in names:
        fresh(name, tokenizer).save(tmp_path / name)
    source, target = LINES[2]
    (ids,) = tokenizer.encode_target([target])
    for order, layer in ((names, 1), (names[::-1], 2)):  # the first member that looks, by its own default layer
        together = Translator.load([tmp_path / name for name in order], "cpu").bundle
        seen = view_attention(together, source, ids)
        check(seen)
        assert seen.view == View(layer)
        assert len(trace_sentence(together, source, ids).cross) == 2 + 0 + 3


@pytest.mark.parametrize("architecture", BLIND)
def test_a_model_without_attention_says_so(architecture: str, tokenizer: Tokenizer) -> None:
    bundle = fresh(architecture, tokenizer)
    with pytest.raises(InputError, match=f'"{architecture}" has none; train one that has'):
        view_attention(bundle, "The cat sleeps.", tokenizer.encode_target(["Le chat dort."])[0])


def test_on_the_command_line_its_translations_are_not_lost(tmp_path: Path, tokenizer: Tokenizer, call: Call) -> None:
    fresh("rnn", tokenizer).save(tmp_path / "model")
    words = ["translate", "--model", tmp_path / "model", "--device", "cpu"]
    texts = ["The cat sleeps.", "The dog eats."]
    wanted = call(*words, *texts).out
    assert wanted.count("\n") == 2
    for place in ([], ["--out", tmp_path / "out.txt"]):
        done = call(*words, "--attention", *place, *texts)
        assert done.code == 2
        assert done.err.count("\n") == 1
        assert "has none; train one that has" in done.err
        assert ((tmp_path / "out.txt").read_text(encoding="utf-8") if place else done.out) == wanted
