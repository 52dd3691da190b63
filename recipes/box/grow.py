"""A wider and deeper model that computes what a smaller one does, for a teacher to start from.

    python recipes/box/grow.py OUT/student --recipe recipes/box/general-teacher.toml --out OUT/grown

The width must be a multiple k of the old one, and heads and inner width k times the old ones. Every feature then exists
k times. A layer that reads k equal copies divides each weight among them, by random shares that add up to one: the sum
is the same, but the copies get different gradients and become different features (Chen, Goodfellow and Shlens, 2016,
Net2Net). Additional layers are copies of the layer below that add zero at first. One copy of each feature has the old
sinusoidal position; the others have the nearest frequencies of the new width, so with sinusoids the larger model
computes only nearly the same, until it is trained.
"""

from __future__ import annotations

import argparse
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.bundle.bundle import Bundle
from regard.bundle.find_model import find_model
from regard.config import build
from regard.models.table import make_model
from regard.models.transformer import TransformerConfig

SHARES = (0.3, 0.7)  # the range of the share of one of two copies
INTO_STREAM = (
    "attention.output",
    "cross.output",
    "feed_forward.contract",
)  # these write into the residual stream
EMBEDDINGS = ("source_embedding.weight", "target_embedding.weight", "output.weight")


def copies_of_features(width: int, times: int) -> Tensor:
    """Returns the old feature that each new feature copies, (k D,). Pairs of features (sine and cosine) stay together.

    >>> copies_of_features(4, 2).tolist()
    [0, 1, 0, 1, 2, 3, 2, 3]
    """
    return torch.arange(width).view(-1, 1, 2).expand(-1, times, -1).flatten()


def copies_of_units(units: int, times: int) -> Tensor:
    """Returns the old unit that each new unit of a hidden layer, or of the heads, copies, (k U,).

    >>> copies_of_units(3, 2).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    return torch.arange(units).repeat(times)


def divided(weight: Tensor, copied: Tensor) -> Tensor:
    """Returns the columns (O, k I) that read the copies in place of those (O, I) that read the originals."""
    drawn = torch.empty(len(weight), len(copied), dtype=torch.float64).uniform_(*SHARES)
    sums = torch.zeros_like(weight, dtype=torch.float64).index_add_(1, copied, drawn)
    return (weight.double()[:, copied] * drawn / sums[:, copied]).to(weight.dtype)


def widened(name: str, value: Tensor, width: int, times: int) -> Tensor:
    """Returns a parameter of the wider model. Its module and kind are known by the name."""
    stream = copies_of_features(width, times)
    if name in EMBEDDINGS:  # multiplied by √D as input; the last norm makes up for it in the output
        return value[:, stream] / math.sqrt(times)
    if "norm" in name:
        return value[stream] / (math.sqrt(times) if name.startswith("decoder_norm") else 1.0)
    into_stream = any(part in name for part in INTO_STREAM)
    rows = stream if into_stream else copies_of_units(len(value), times)
    if value.ndim == 1:
        return value[rows]
    columns = copies_of_units(value.shape[1], times) if into_stream else stream
    return divided(value[rows], columns)


def layer_sources(old: int, new: int) -> list[tuple[int, bool]]:
    """Returns, for each layer of the deeper model, the layer that it copies, and whether it is an additional one.

    >>> layer_sources(2, 3)
    [(0, False), (1, False), (1, True)]
    """
    sources = [place * old // new for place in range(new)]
    return [(source, source in sources[:place]) for place, source in enumerate(sources)]


def deepened(weights: dict[str, Tensor], stack: str, old: int, new: int) -> dict[str, Tensor]:
    found = {name: value for name, value in weights.items() if not name.startswith(f"{stack}.")}
    for place, (source, additional) in enumerate(layer_sources(old, new)):
        for name, value in weights.items():
            if name.startswith(f"{stack}.{source}."):
                silent = additional and any(part in name for part in INTO_STREAM)
                found[f"{stack}.{place}.{name.split('.', 2)[2]}"] = torch.zeros_like(value) if silent else value.clone()
    return found


def grown(bundle: Bundle, config: TransformerConfig) -> Bundle:
    """Returns the model in its new shape. Raises SystemExit if that is no multiple of the old one."""
    old: Any = bundle.config
    times = config.width // old.width
    shapes = [(one.width, one.heads, one.inner) for one in (old, config)]
    if tuple(times * size for size in shapes[0]) != shapes[1] or not (old.norm == config.norm == "pre"):
        raise SystemExit(f"width, heads and inner must be the same multiple of {shapes[0]}, not {shapes[1]}, norm pre")
    torch.manual_seed(1)
    weights = bundle.model.state_dict()
    weights = {name: widened(name, value, old.width, times) for name, value in weights.items()}
    weights["target_embedding.weight"] = weights["output.weight"] = weights["source_embedding.weight"]  # one matrix
    weights = deepened(weights, "encoder", old.encoder_layers, config.encoder_layers)
    weights = deepened(weights, "decoder", old.decoder_layers, config.decoder_layers)
    model = make_model(bundle.architecture, config, bundle.tokenizer)
    model.load_state_dict(weights)
    card = {key: value for key, value in bundle.card.items() if key in ("recipe", "languages")}
    return Bundle(bundle.architecture, config, model, bundle.tokenizer, card, "float16", bundle.known_words)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", type=Path)
    options.add_argument("--recipe", type=Path, required=True, help="its [model] is the new shape")
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    bundle = Bundle.load(find_model(given.model))
    shape = tomllib.loads(given.recipe.read_text(encoding="utf-8"))["model"]
    config = build(TransformerConfig, {key: value for key, value in shape.items() if key != "preset"}, "model")
    found = grown(bundle, replace(config, positions=bundle.config.positions))  # type: ignore[attr-defined]
    found.save(given.out)
    sizes = [f"{one.model.parameter_count() / 1e6:.1f}" for one in (bundle, found)]
    print(f"{given.out}: {sizes[1]} M parameters from {sizes[0]} M")


if __name__ == "__main__":
    main()
