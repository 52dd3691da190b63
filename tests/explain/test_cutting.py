"""Cut heads are cut, others are not, and afterwards the model is what it was."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

import variants
from regard.batch import flat_batch
from regard.errors import InputError
from regard.explain.ablation import Head, ablated, heads_of, parse_head
from regard.explain.importance import ablated_output, importance, random_heads
from regard.models.base import Model
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.search.forced_decoding import forced_log_probs
from regard.translator import Translator
from support import LINES
from variants import V, close, stepwise, transformer

SMALL = TransformerConfig(width=16, heads=4, inner=32, encoder_layers=2, decoder_layers=2)
BATCH = flat_batch([[5, 9, 14, 3], [8, 6]], [[7, 11, 4], [12]]).pad()
HEADS = [Head("encoder", 1, 2), Head("decoder", 0, 0), Head("cross", 1, 3)]


def sharp(config: TransformerConfig = SMALL) -> Transformer:
    torch.manual_seed(7)
    model = transformer(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def without_columns(model: Transformer, heads: list[Head]) -> Model:
    """The same cut made in the weights: what Wᴼ reads of a head is 0."""
    other = copy.deepcopy(model)
    for head in heads:
        layer = (other.encoder if head.kind == "encoder" else other.decoder)[head.layer]
        part = layer.cross if head.kind == "cross" else layer.attention
        with torch.no_grad():
            part.output.weight[:, 4 * head.head : 4 * head.head + 4] = 0
    return other


@pytest.mark.parametrize("heads", [[head] for head in HEADS] + [HEADS])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_zero_is_a_head_whose_output_matrix_is_zero(heads: list[Head], positions: str) -> None:
    model = sharp(replace(SMALL, positions=positions))
    before = model(BATCH)
    with ablated(model, heads):
        found = model(BATCH)
        close(found.log_softmax(-1), stepwise(model, BATCH)[0])  # in translation too
        assert model.attention(BATCH).cross[0].shape == (2, 4, 4, 5)
    close(found, without_columns(model, heads)(BATCH))
    assert not torch.allclose(found, before, atol=1e-3)
    assert torch.equal(model(BATCH), before)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_uniform_looks_everywhere_alike(kind: str) -> None:
    model, head = sharp(), Head(kind, 0, 1)  # type: ignore[arg-type]
    with ablated(model, [head], "uniform"):
        maps = getattr(model.attention(BATCH), kind)[0]  # (B, H, queries, keys)
        close(model(BATCH).log_softmax(-1), stepwise(model, BATCH)[0])  # in translation too
    wanted = getattr(model.attention(BATCH), kind)[0]
    close(maps[:, [0, 2, 3]], wanted[:, [0, 2, 3]])
    seen = wanted[:, 1] > 0
    close(maps[:, 1], seen / seen.sum(dim=-1, keepdim=True))
    assert not torch.allclose(maps[:, 1], wanted[:, 1], atol=1e-3)


@pytest.mark.parametrize(
    "make", [variants.RNN["before"], variants.GNMTS["four layers"], variants.DEEP_ATT["three and three layers"]]
)
def test_the_one_head_of_a_recurrent_model(make: object) -> None:
    torch.manual_seed(5)
    model = make().eval()  # type: ignore[operator]
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    before = model(BATCH)
    (head,) = heads_of(model)
    with ablated(model, [head]):
        weights = model.attention(BATCH).cross[0][1, 0]  # (T, S) of the second sentence: two words and EOS
        assert not torch.equal(model(BATCH), before)
    close(weights[:, :3], torch.full_like(weights[:, :3], 1 / 3))
    assert torch.equal(model(BATCH), before)
    with pytest.raises(InputError, match='how must be "uniform"'), ablated(model, [head], "zero"):
        pass
    assert torch.equal(model(BATCH), before)


def test_an_error_within_restores_too() -> None:
    model = sharp()
    before = model(BATCH)
    with pytest.raises(ZeroDivisionError), ablated(model, HEADS):
        raise ZeroDivisionError
    assert torch.equal(model(BATCH), before)
    with (
        pytest.raises(InputError, match="no head cross:3:1 in this model"),
        ablated(model, [HEADS[0], Head("cross", 2, 0)]),
    ):
        pass
    assert torch.equal(model(BATCH), before)


def test_which_heads_there_are() -> None:
    assert len(heads_of(sharp())) == 2 * 4 + 2 * 4 + 2 * 4
    assert heads_of(variants.RNN["lstm"]()) == []
    with pytest.raises(InputError, match="ensemble"):
        heads_of(variants.ENSEMBLES["two"]())


def test_names_of_heads() -> None:
    assert all(parse_head(str(head)) == head for head in HEADS)
    for wrong in ("encoder", "encoder:0:1", "self:1:1", "cross:1:1:1", "cross:1:x", ""):
        with pytest.raises(InputError, match="KIND:LAYER:HEAD"):
            parse_head(wrong)


def test_importance_finds_the_head_that_matters_and_the_one_that_does_not() -> None:
    model = sharp()
    all_caps, silent = Head("cross", 0, 1), Head("encoder", 0, 3)
    with torch.no_grad():
        model.decoder[0].cross.output.weight[:, 4:8] *= 40
        model.encoder[0].attention.output.weight[:, 12:16] = 0
    rng = np.random.default_rng(1)
    sources = [rng.integers(3, V, 6).tolist() for _ in range(12)]
    said = [[int(t) for t in rng.integers(3, V, 5)] for _ in sources]
    with torch.inference_mode():  # targets that the model holds for likely, so that a cut can only hurt
        for i, source in enumerate(sources):
            for t in range(5):
                said[i][t] = int(model(flat_batch([source], [said[i][: t + 1]]).pad())[0, t, 3:].argmax()) + 3
    pairs = list(zip(sources, said, strict=True))
    found = importance(model, pairs[:6], pairs[6:], count=1, draws=6)
    assert list(found.drops.values()) == sorted(found.drops.values(), reverse=True)
    assert found.drops[silent] == pytest.approx(0, abs=1e-6)
    assert found.best == (all_caps,)
    assert found.beaten >= 5
    assert found == importance(model, pairs[:6], pairs[6:], count=1, draws=6)


def test_random_heads_are_seeded_and_distinct() -> None:
    heads = heads_of(sharp())
    sets = random_heads(heads, 3, 10, seed=4)
    assert sets == random_heads(heads, 3, 10, seed=4) != random_heads(heads, 3, 10, seed=5)
    assert all(len(set(some)) == 3 for some in sets)


def test_the_new_output_of_a_trained_model(translator: Translator) -> None:
    source, target = LINES[3]
    every = heads_of(translator.bundle.model)
    ids = translator.tokenizer.encode_source([source]), translator.tokenizer.encode_target([target])
    pair = ids[0][0], ids[1][0]
    nothing = ablated_output(translator.bundle, *pair, [])
    assert (nothing["drop"], nothing["output"]) == (0, target)
    all_cut = ablated_output(translator.bundle, *pair, every)
    assert all_cut["drop"] > 1
    assert all_cut["output"] != target
    whole = forced_log_probs(translator.bundle.model, *ids)[0].sum()
    with ablated(translator.bundle.model, every):
        rest = forced_log_probs(translator.bundle.model, *ids)[0].sum()
    assert all_cut["drop"] == pytest.approx(whole - rest, abs=1e-4)
