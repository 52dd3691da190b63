"""The recorded parts are those of the model: by their equations they give its output again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

import variants
from regard.batch import EOS, flat_batch
from regard.errors import InputError
from regard.explain.anatomy import TEMPERATURES, Anatomy, step_distributions
from regard.explain.dot_product import dot_product
from regard.explain.mechanisms import Query, array
from regard.explain.recorded_parts import record_parts
from regard.layers.positions import sinusoids
from regard.models.base import Model
from regard.models.table import ARCHITECTURES
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from variants import V, scattered

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=2, norm="post")
STACKS: dict[str, TransformerConfig] = {
    "post": SMALL,
    "pre": replace(SMALL, norm="pre", activation="swiglu"),
    "rotary": replace(SMALL, norm="pre", positions="rotary", activation="gelu"),
    "learned": replace(SMALL, positions="learned", tie="none", output_bias=True),
    "experts": replace(SMALL, experts=3),
}
OTHERS: dict[str, Callable[[], Model]] = {
    "rnn-attention": variants.attending(**variants.NOTES),
    **{f"rnn, {name}": variants.RNN[name] for name in ("after-dot-gru", "feeding-coverage-gru", "before-general-gru")},
    "rnn": variants.RNN["lstm-reversed"],
    "gnmt": variants.GNMTS["four layers"],
    "deep-att": variants.DEEP_ATT["one and one"],
    "bytenet": variants.BYTENET["plain"],
    "convs2s": variants.CONVS2S["plain"],
    "moe": variants.MOE["general"],
}
SOURCE, TARGET = [5, 9, 3, 17, 4], [8, 6, 12]


def recorded(make: Callable[[], Model]) -> tuple[Model, Anatomy, np.ndarray]:
    torch.manual_seed(7)
    model = scattered(make())
    batch = flat_batch([SOURCE], [TARGET]).pad()
    with torch.inference_mode():
        return model, record_parts(model, SOURCE, TARGET), array(model(batch)[0])


@pytest.mark.parametrize("name", STACKS)
def test_the_parts_of_a_transformer_recombine_to_its_output(name: str) -> None:
    """From the embeddings to the logits by the equations alone, with the recorded values as the only input."""
    config = STACKS[name]
    model, found, logits = recorded(lambda: Transformer(config, V, V, True))
    assert isinstance(model, Transformer)
    stack = model.layer_parts()

    def value(part: str) -> np.ndarray:
        values = found.find(part).values
        assert values is not None
        return values

    def close(ours: np.ndarray | None, theirs: np.ndarray | None) -> None:
        assert ours is not None
        assert theirs is not None
        np.testing.assert_allclose(ours, theirs, atol=2e-5)

    for side, stem, some in (("source", "encoder", stack.encoder), ("target", "decoder", stack.decoder)):
        x = value(f"{side}.embedding")
        if config.positions != "rotary":
            close(x + value(f"{side}.positions"), value(f"{side}.input"))
            x = value(f"{side}.input")
        if config.positions == "sinusoidal":
            close(value(f"{side}.positions"), sinusoids(torch.arange(len(x)), 16).double().numpy())
        for number, layer in enumerate(some.layers):
            for sublayer in layer:
                part = f"{stem}.{number + 1}.{sublayer.kind}"
                norm = sublayer.residual.norm
                if config.norm == "pre":
                    close(layer_norm(x, norm), value(f"{part}.norm"))
                close(x + value(part), value(f"{part}.sum"))
                x = value(f"{part}.sum")
                if config.norm == "post":
                    close(layer_norm(x, norm), value(f"{part}.norm"))
                    x = value(f"{part}.norm")
            close(value(f"{stem}.{number + 1}"), x)
        if some.norm is not None:
            close(layer_norm(x, some.norm), value(f"{stem}.norm"))
            x = value(f"{stem}.norm")
    close(linear(x, stack.output), logits)
    np.testing.assert_array_equal(found.logits, logits)
    assert ("mixtures" in found.missing) == (name == "experts")
    assert ("positions" in found.missing) == (name == "rotary")


def layer_norm(x: np.ndarray, norm: torch.nn.Module) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + norm.eps)
    return scaled * array(norm.weight) + array(norm.bias)


def linear(x: np.ndarray, layer: torch.nn.Module) -> np.ndarray:
    return x @ array(layer.weight).T + (0 if layer.bias is None else array(layer.bias))


@pytest.mark.parametrize("name", ["post", "rotary"])
def test_heads_and_feed_forward_recombine(name: str) -> None:
    model, found, _ = recorded(lambda: Transformer(STACKS[name], V, V, True))
    assert isinstance(model, Transformer)
    maps = model.attention(flat_batch([SOURCE], [TARGET]).pad())
    for part, module, weights in (
        ("encoder.2.attention", model.encoder[1].attention, maps.encoder[1]),
        ("decoder.1.attention", model.decoder[0].attention, maps.decoder[0]),
        ("decoder.2.cross", model.decoder[1].cross, maps.cross[1]),
    ):
        contexts = []
        for head in (1, 2):
            own = {one.kind: one.values for one in found.find(f"{part}.{head}").parts}
            scores = own["query"] @ own["key"].T / 8**0.5
            scores[np.isneginf(own["scores"])] = -np.inf
            np.testing.assert_allclose(scores, own["scores"])
            raised = np.exp(scores - scores.max(-1, keepdims=True))
            np.testing.assert_allclose(raised / raised.sum(-1, keepdims=True), own["weights"], atol=1e-6)
            np.testing.assert_allclose(own["weights"], array(weights[0, head - 1]), atol=1e-6)
            np.testing.assert_allclose(own["weights"] @ own["value"], own["context"], atol=1e-5)
            contexts.append(own["context"])
        np.testing.assert_allclose(
            linear(np.concatenate(contexts, -1), module.output), found.find(part).values, atol=1e-5
        )
        masked = np.isneginf(found.find(f"{part}.1.scores").values)
        assert masked.any() == (part == "decoder.1.attention")
        heads = [one for one in found.find(part).parts if one.kind == "head"]
        assert sum(one.parameters for one in heads) + 16 == found.find(part).parameters  # and the bias of W_O
    hidden, network = found.find("encoder.1.feed_forward.hidden"), model.encoder[0].feed_forward
    np.testing.assert_allclose(
        linear(hidden.values, network.contract), found.find("encoder.1.feed_forward").values, atol=1e-5
    )


@variants.PROJECTS
@pytest.mark.parametrize("name", OTHERS)
def test_other_models_show_what_they_have_and_say_what_is_missing(name: str) -> None:
    model, found, logits = recorded(OTHERS[name])
    np.testing.assert_array_equal(found.logits, logits)
    assert found.missing
    assert len(found.find("source.embedding").values) == len(found.find("encoder").values) == len(SOURCE) + 1
    assert len(found.find("target.embedding").values) == len(TARGET) + 1
    np.testing.assert_allclose(linear(found.find("decoder").values, model.output), logits, atol=1e-5)
    maps = model.attention(flat_batch([SOURCE], [TARGET]).pad()).cross
    heads = [part for part in found.parts for part in part.walk() if part.kind == "head"]
    assert len(heads) == len(maps)
    for head, weights in zip(heads, maps, strict=True):
        np.testing.assert_allclose(head.values, array(weights[0, 0]), atol=1e-6)
        own = {part.kind: part.values for part in head.parts}
        if "context" in own:
            np.testing.assert_allclose(own["context"], own["weights"] @ own["key"], atol=1e-6)
            raised = np.exp(own["scores"])
            np.testing.assert_allclose(raised / raised.sum(-1, keepdims=True), own["weights"], atol=1e-5)


def test_every_architecture_is_recorded() -> None:
    assert set(ARCHITECTURES) <= {*OTHERS, "transformer"}


MAKERS = {"transformer": lambda: Transformer(SMALL, V, V, True)} | {
    name: make for name, make in OTHERS.items() if name not in ("rnn", "bytenet")
}


@variants.PROJECTS
@pytest.mark.parametrize("name", MAKERS)
def test_one_dot_product_is_a_cell_of_the_scores(name: str) -> None:
    model, found, _ = recorded(MAKERS[name])
    kind = "encoder" if name == "transformer" else "cross"
    part = "encoder.2.attention.2" if name == "transformer" else "cross.1.1"
    query = Query("encoder", 1, 1, 3) if name == "transformer" else Query("cross", 0, 0, 3)
    one = dot_product(model, SOURCE, TARGET, query, 2)
    own = {some.kind: some.values for some in found.find(part).parts}
    assert kind == query.kind
    assert sum(one.products) == pytest.approx(one.score)
    assert one.score / one.scale == pytest.approx(one.scaled[2], abs=1e-5)
    if "scores" in own:
        np.testing.assert_allclose(one.scaled, own["scores"][3], atol=2e-5)
    np.testing.assert_allclose(one.weights, found.find(part).values[3], atol=1e-5)
    np.testing.assert_allclose(np.exp(one.scaled) / np.exp(one.scaled).sum(), one.weights)


def test_temperatures_are_exact() -> None:
    _, found, logits = recorded(lambda: Transformer(SMALL, V, V, True))
    steps = step_distributions(found.logits, [*TARGET, EOS], 4)
    for row, step, output in zip(logits, steps, [*TARGET, EOS], strict=True):
        assert output in step.tokens
        assert step.rank == 1 + (row > row[output]).sum()
        for heat, total in zip(TEMPERATURES, step.log_sums, strict=True):
            exact = torch.softmax(torch.tensor(row) / heat, dim=-1).numpy()
            ours = np.exp(np.array(step.logits) / heat - total)
            np.testing.assert_allclose(ours, exact[list(step.tokens)], rtol=1e-9, atol=1e-15)


def test_a_part_that_is_not_there_is_named() -> None:
    _, found, _ = recorded(lambda: Transformer(SMALL, V, V, True))
    with pytest.raises(InputError, match=r'no part "encoder\.9" in this model; it has source'):
        found.find("encoder.9")
    with pytest.raises(InputError, match="key must be from 0 to 5"):
        dot_product(recorded(MAKERS["transformer"])[0], SOURCE, TARGET, Query("encoder", 0, 0, 0), 6)
