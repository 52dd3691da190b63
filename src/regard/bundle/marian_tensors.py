"""Converts between the tensors of a Marian model in Hugging Face's format and ours: names and order of dimensions.

    V vocabulary   D model width   F units of a feed-forward layer

Marian puts the sines of a position into the first half of the D dimensions and the cosines into the second; ours
alternate (sin, cos, sin, cos, …). Attention, norms and feed-forward layers treat all D dimensions alike, so reordering
the model width of every tensor, on each axis that has it, gives exactly the same model. Inner dimensions (heads, the
units of feed-forward layers) keep their order. So neither model needs the other's positions.

Pre-norm models (LayerNorm before the sublayer, and a final one after the stack) have the same names in Hugging Face's
Pegasus, which has Marian's positions; `export/huggingface.py` uses them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from regard.models.transformer_layers import TransformerConfig

PAD_BIAS = -100.0  # output bias of an entry that the other model does not have: e⁻¹⁰⁰ is negligible in a softmax


class TensorPair(NamedTuple):
    """One tensor under both names, and the axes that are the model's width."""

    ours: str
    theirs: str
    axes: tuple[int, ...]


# Module of a layer: our name, their name, whether its input, and its output, is of the model's width.
ATTENTION = (
    ("query", "q_proj", True, False),
    ("key", "k_proj", True, False),
    ("value", "v_proj", True, False),
    ("output", "out_proj", False, True),
)
FEED_FORWARD = (("feed_forward.expand", "fc1", True, False), ("feed_forward.contract", "fc2", False, True))


def width_order(width: int) -> Tensor:
    """Returns the Marian index of each of our D dimensions: sin₀ cos₀ sin₁ cos₁ … from sin₀ sin₁ … cos₀ cos₁ …

    >>> width_order(6).tolist()
    [0, 3, 1, 4, 2, 5]
    """
    return torch.arange(width).view(2, -1).T.flatten()


def layer_pairs(config: TransformerConfig) -> Iterator[TensorPair]:
    """Yields every tensor of the layers, and the final norms if there are any, without embeddings and output."""
    for side, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        looks = [("attention", "self_attn")] + ([("cross", "encoder_attn")] if side == "decoder" else [])
        for i in range(count):
            ours, theirs = f"{side}.{i}", f"model.{side}.layers.{i}"
            for look, their_look in looks:
                for part, their_part, *width in ATTENTION:
                    yield from _pairs(f"{ours}.{look}.{part}", f"{theirs}.{their_look}.{their_part}", *width)
                yield from _pairs(f"{ours}.around_{look}.norm", f"{theirs}.{their_look}_layer_norm")
            for part, their_part, *width in FEED_FORWARD:
                yield from _pairs(f"{ours}.{part}", f"{theirs}.{their_part}", *width)
            yield from _pairs(f"{ours}.around_feed_forward.norm", f"{theirs}.final_layer_norm")
        if config.norm == "pre":
            yield from _pairs(f"{side}_norm", f"model.{side}.layer_norm")


def _pairs(ours: str, theirs: str, comes_in: bool = False, goes_out: bool = True) -> Iterator[TensorPair]:
    """Yields weight and bias of a linear map or, by default, of a norm."""
    yield TensorPair(f"{ours}.weight", f"{theirs}.weight", ((0,) if goes_out else ()) + ((1,) if comes_in else ()))
    yield TensorPair(f"{ours}.bias", f"{theirs}.bias", (0,) if goes_out else ())


def reordered(tensor: Tensor, axes: tuple[int, ...], order: Tensor) -> Tensor:
    for axis in axes:
        tensor = tensor.index_select(axis, order)
    return tensor


def layers_from_marian(theirs: Mapping[str, Tensor], config: TransformerConfig) -> dict[str, Tensor]:
    order = width_order(config.width)
    return {pair.ours: reordered(theirs[pair.theirs], pair.axes, order) for pair in layer_pairs(config)}


def layers_to_marian(ours: Mapping[str, Tensor], config: TransformerConfig) -> dict[str, Tensor]:
    back = width_order(config.width).argsort()
    return {pair.theirs: reordered(ours[pair.ours], pair.axes, back) for pair in layer_pairs(config)}


def rows_from_marian(rows: Tensor, order: list[int | None], missing: float) -> Tensor:
    """Reorders rows (V, …) by our ids; an entry that Marian does not have is filled with `missing`."""
    taken = rows[torch.tensor([i or 0 for i in order])]
    taken[torch.tensor([i is None for i in order])] = missing
    return taken


def rows_to_marian(rows: Tensor, order: list[int | None]) -> Tensor:
    """Reorders rows (V, …) by Marian's ids, without the entries that only we have."""
    places = sorted((theirs, ours) for ours, theirs in enumerate(order) if theirs is not None)
    return rows[torch.tensor([ours for _, ours in places])]
