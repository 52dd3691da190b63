"""The working of one look: equal to the model's own numbers for every architecture, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import torch

import variants
from regard.batch import flat_batch
from regard.errors import InputError, RegardError
from regard.explain import step
from regard.explain.mechanisms import Query
from regard.explain.step import query_numbers, step_numbers
from regard.explain.trace import Kind
from regard.models.base import Model
from regard.models.moe import Moe, MoeConfig
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.translator import Translator
from variants import V, scattered

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=2, norm="post")
GATED = MoeConfig(width=12, cells=12, inner=16, experts=3)
LOOKING: dict[str, Callable[[], Model]] = {
    "transformer": lambda: Transformer(SMALL, V, V, True),
    "transformer-pre": lambda: Transformer(replace(SMALL, norm="pre"), V, V, True),
    "transformer-rotary": lambda: Transformer(replace(SMALL, positions="rotary", heads=4), V, V, True),
    "transformer-learned": lambda: Transformer(replace(SMALL, positions="learned", tie="none"), V, V, False),
    "moe": lambda: Moe(GATED, V, V, True),
    "moe-additive": lambda: Moe(replace(GATED, score="additive"), V, V, True),
    **{f"convs2s, {name}": make for name, make in variants.CONVS2S.items()},
    **{f"deep-att, {name}": make for name, make in variants.DEEP_ATT.items()},
    **{f"gnmt, {name}": make for name, make in variants.GNMTS.items()},
    **{f"rnn-attention, {name}": make for name, make in variants.RNN.items() if name not in variants.WITHOUT_ATTENTION},
}
SOURCE, TARGET = [5, 9, 3, 17, 4], [8, 6, 12]


def made(name: str) -> Model:
    torch.manual_seed(7)
    model = LOOKING[name]()
    return scattered(model)


@pytest.mark.parametrize("name", LOOKING)
def test_every_look_of_every_architecture_is_the_models_own(name: str) -> None:
    model = made(name)
    maps = model.attention(flat_batch([SOURCE], [TARGET]).pad())
    looks = 0
    for kind in get_args(Kind):
        for layer, weights in enumerate(getattr(maps, kind)):
            _, heads, queries, _ = weights.shape
            for head in range(heads):
                for position in range(queries):
                    numbers = query_numbers(model, SOURCE, TARGET, Query(kind, layer, head, position))
                    expected = weights[0, head, position].detach().double().numpy()
                    np.testing.assert_allclose(numbers.term("α"), expected, atol=1e-5)
                    assert max(numbers.differences.values()) <= 1e-5
                    assert {"weights"} < set(numbers.differences)
                    looks += 1
    assert looks >= len(TARGET) + 1


def test_the_terms_follow_from_one_another() -> None:
    """By hand from the printed terms alone: what a reader with a calculator would do."""
    numbers = query_numbers(made("transformer"), SOURCE, TARGET, Query("decoder", 1, 1, 2))
    q, k, v = (numbers.term(name) for name in ("q", "k", "v"))
    np.testing.assert_allclose(numbers.term("q·k"), [sum(a * b for a, b in zip(q, row, strict=True)) for row in k])
    np.testing.assert_allclose(numbers.term("÷√d"), numbers.term("q·k") / 8**0.5)
    assert numbers.term("mask")[3] == -np.inf  # the future
    assert numbers.term("α")[3] == 0
    raised = np.exp(numbers.term("÷√d")[:3])
    np.testing.assert_allclose(numbers.term("α")[:3], raised / raised.sum())
    np.testing.assert_allclose(numbers.term("c"), sum(a * row for a, row in zip(numbers.term("α"), v, strict=True)))


@pytest.mark.parametrize(("name", "bias"), [("rnn-attention, notes", False), ("moe-additive", True)])
def test_a_bias_is_named_where_there_is_one(name: str, bias: bool) -> None:
    numbers = query_numbers(made(name), SOURCE, TARGET, Query())
    assert any("+ b" in term.what for term in numbers.terms) == bias


def test_nothing_is_shown_where_the_equation_is_not_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that does not divide by √d: its own weights differ from the equation's."""
    from regard.layers import attention

    def undivided(q, k, v, mask=None):  # type: ignore[no-untyped-def]
        weights = (q @ k.transpose(-2, -1)).masked_fill(~mask, -torch.inf).softmax(-1)
        return weights @ v, weights

    monkeypatch.setattr(attention, "attend", undivided)
    with pytest.raises(RegardError, match="weights differ from the model's own by"):
        query_numbers(made("transformer"), SOURCE, TARGET, Query())


def test_a_model_is_as_it_was_afterwards() -> None:
    model = made("gnmt, four layers")
    query_numbers(model, SOURCE, TARGET, Query())
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize(
    ("which", "says"),
    [
        (Query(layer=3), "layer must be below 2 for cross attention, counted from 0, but is 3"),
        (Query("encoder", head=2), "head must be below 2 for encoder attention, counted from 0, but is 2"),
        (Query(position=4), "position must be below 4 for cross attention, counted from 0, but is 4"),
        (Query(position=-1), "position must be below 4 for cross attention, counted from 0, but is -1"),
    ],
)
def test_what_is_not_there_is_refused(which: Query, says: str) -> None:
    with pytest.raises(InputError, match=says):
        query_numbers(made("transformer"), SOURCE, TARGET, which)


def test_kinds_that_a_model_lacks_are_refused() -> None:
    with pytest.raises(InputError, match="kind must be one of cross for this model, but is encoder"):
        query_numbers(made("moe"), SOURCE, TARGET, Query("encoder"))


def test_in_words(translator: Translator) -> None:
    (ids,) = translator.tokenizer.encode_target(["Le chat dort."])
    found = step_numbers(translator.bundle, "The cat sleeps.", ids, Query("decoder", 1, 0, 1))
    assert found.query_label.startswith("read ")
    assert found.keys[0] == "<bos>"
    assert len(found.keys) == len(found.numbers.term("α")) == len(ids) + 1
    assert step.as_dict(found)["terms"][0]["values"] == [round(x, 6) for x in found.numbers.term("x").tolist()]
