"""Attention maps: those of a forced pass are those that a search had, reordered with its beam, for every architecture
with attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

import variants
from regard.align.attention import View
from regard.batch import EOS, pad_sources
from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.errors import BundleError, InputError
from regard.explain.trace import checked_rows, forced_maps, trace_sentence
from regard.models.base import AttentionMaps, Model
from regard.models.moe import Moe, MoeConfig
from regard.models.table import ARCHITECTURES, make_model
from regard.models.transformer_layers import TransformerConfig
from regard.search.search import beam_search
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator
from support import LINES
from traced import searched_maps
from variants import V, close, transformer

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=3)
MODELS: dict[str, Callable[[], Model]] = {
    "transformer": lambda: transformer(SMALL),
    "transformer, post-norm": lambda: transformer(replace(SMALL, norm="post")),
    "transformer, rotary": lambda: transformer(replace(SMALL, positions="rotary")),
    "transformer, experts": lambda: transformer(replace(SMALL, experts=3)),
    "moe": lambda: Moe(MoeConfig(width=12, cells=12, inner=16, experts=3), V, V, True),
    "moe, additive": lambda: Moe(MoeConfig(width=12, cells=12, inner=16, experts=3, score="additive"), V, V, True),
}
for family, some in (
    ("convs2s", variants.CONVS2S),
    ("deep-att", variants.DEEP_ATT),
    ("gnmt", variants.GNMTS),
    ("rnn", variants.RNN),
    ("ensemble", variants.ENSEMBLES),
    ("hybrid", variants.HYBRIDS),
):
    blind = (*variants.WITHOUT_ATTENTION, "lexicon without attention")
    MODELS |= {f"{family}, {name}": make for name, make in some.items() if name not in blind}


def sharp(name: str) -> Model:
    """Sharper than a fresh model, whose rows are all alike, and less in love with EOS, so that it says something."""
    torch.manual_seed(7)
    model = MODELS[name]().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    with torch.no_grad():
        for part, output in model.named_modules():
            if part.endswith("output") and isinstance(output, torch.nn.Linear) and len(output.weight) == V:
                output.weight[EOS] = 0
    model.max_positions = 12  # tokens of a translation: enough for the beam to change places often
    return model


def same(found: AttentionMaps, wanted: AttentionMaps) -> None:
    for kind in ("encoder", "decoder", "cross"):
        ours, theirs = getattr(found, kind), getattr(wanted, kind)
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            close(a, b)


@pytest.mark.parametrize("name", MODELS)
def test_a_search_saw_what_a_forced_pass_shows(name: str) -> None:
    model, other = sharp(name), [4, 17]
    (hypotheses,) = beam_search(model, *pad_sources([other]), 5)
    for source, beam, nbest in (([5, 9, 14], 1, 0), (other, 5, len(hypotheses) - 1)):
        found, maps = searched_maps(model, source, DecodeConfig(beam), nbest)
        assert maps.cross
        same(maps, forced_maps(model, source, found.ids))


def test_the_beam_does_change_places() -> None:
    """Else the test above would hold without any reordering."""
    model, source = sharp("transformer"), [4, 4, 17]
    found = [searched_maps(model, source, config)[0].ids for config in (DecodeConfig(5), DecodeConfig(1))]
    assert len(found[0]) > 5
    assert found[0] != found[1]


def test_a_capture_of_a_trained_model(translator: Translator) -> None:
    source, target = LINES[2]
    own = translator.explain(source, beam=5).trace
    (ids,) = translator.tokenizer.encode_target([target])
    again = trace_sentence(translator.bundle, source, ids)
    assert (own.target, own.how, again.how) == (target, "beam 5", "forced")
    assert translator.explain(source, beam=1).trace.how == "greedy"
    assert own.target_ids == again.target_ids
    assert len(own.source_pieces) == len(own.source_spans) + 1
    assert len(own.target_pieces) == len(own.target_spans) + 1
    assert own.kinds == ("encoder", "decoder", "cross")
    for kind, shape in (("encoder", (2, 7, 7)), ("decoder", (2, 7, 7)), ("cross", (2, 7, 7))):
        for ours, theirs in zip(getattr(own, kind), getattr(again, kind), strict=True):
            assert ours.shape == shape
            np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert (np.triu(own.decoder[0], 1) == 0).all()


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_map_in_words_keeps_its_mass(kind: str, translator: Translator) -> None:
    seen = translator.explain("The small cat sleeps.", beam=1).trace
    found = seen.in_words(View(0, 1), kind)  # type: ignore[arg-type]
    np.testing.assert_allclose(found.weights.sum(axis=1) + found.eos_mass, 1, atol=1e-6)
    side = {"encoder": seen.source, "decoder": seen.target, "cross": seen.target}[kind]
    assert "".join(found.target_words) == side.replace(" ", "")


def test_a_word_cannot_have_read_itself_before_it_is_said(translator: Translator) -> None:
    seen = translator.explain(LINES[2][0], beam=1).trace
    before = seen.in_words(View(0), "decoder").weights
    after = seen.in_words(View(0, None, "having-read"), "decoder").weights
    assert (np.triu(before) == 0).all()
    assert (np.triu(after, 1) == 0).all()
    assert (np.diag(after) > 0).all()


@pytest.mark.parametrize("wrong", [float("nan"), 0.7])
def test_rows_that_do_not_sum_to_one_are_refused(wrong: float) -> None:
    good = torch.full((1, 2, 3, 4), 0.25)
    assert checked_rows("cross", [good])[0].shape == (2, 3, 4)
    bad = good.clone()
    bad[0, 1, 2, 0] = wrong
    message = r"cross attention of layer 1, head 1, row 2, counted from 0, sums to (nan|1\.450), not 1"
    with pytest.raises(BundleError, match=message):
        checked_rows("cross", [good, bad])


def test_what_is_not_there_is_said(translator: Translator, tokenizer: Tokenizer) -> None:
    seen = translator.explain("The cat sleeps.", beam=1).trace
    with pytest.raises(InputError, match="layer must be from 0 to 1 for cross attention, but is 5"):
        seen.weights(View(5))
    with pytest.raises(InputError, match="head must be from 0 to 1"):
        seen.weights(View(0, 2))
    for architecture in ("rnn", "bytenet"):
        config = ARCHITECTURES[architecture].presets["tiny"]
        bundle = Bundle(architecture, config, make_model(architecture, config, tokenizer).eval(), tokenizer)
        with pytest.raises(InputError, match=f'"{architecture}" has none'):
            trace_sentence(bundle, "The cat sleeps.", [4])


def test_a_recurrent_model_has_cross_attention_alone(tokenizer: Tokenizer) -> None:
    config = ARCHITECTURES["rnn-attention"].presets["tiny"]
    bundle = Bundle("rnn-attention", config, make_model("rnn-attention", config, tokenizer).eval(), tokenizer)
    seen = trace_sentence(bundle, "The cat sleeps.", [4, 5])
    assert seen.kinds == ("cross",)
    with pytest.raises(InputError, match="no encoder attention in this model; it has cross"):
        seen.in_words(View(0), "encoder")
