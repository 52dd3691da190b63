"""A recipe: everything a training run depends on, in sections that are defined beside what they configure.

    [data] files and filters   [text] vocabulary   [model] architecture   [train] the loop   [reward] what is maximised
    [decode] the search

Every key has one name, unique over the sections. `read.py` makes a recipe from TOML, tables and settings.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from regard.bundle.card import DecodeConfig
from regard.data.config import DataConfig
from regard.errors import RecipeError
from regard.models.table import ModelConfig
from regard.models.transformer_layers import TransformerConfig
from regard.recipe.train import RewardConfig, TrainConfig
from regard.text.tokenizer import TextConfig

SECTIONS: dict[str, type] = {
    "data": DataConfig,
    "text": TextConfig,
    "model": TransformerConfig,
    "train": TrainConfig,
    "reward": RewardConfig,
    "decode": DecodeConfig,
}


@dataclass(frozen=True)
class Recipe:
    data: DataConfig = field(default_factory=DataConfig)
    text: TextConfig = field(default_factory=TextConfig)
    architecture: str = "transformer"
    model: ModelConfig = field(default_factory=TransformerConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        for conflict in (*self._data_conflicts(), *self._reward_conflicts(), *self._loss_conflicts()):
            raise RecipeError(conflict)

    def _data_conflicts(self) -> Iterator[str]:
        longest, tokens = self.data.max_length, self.train.batch_tokens
        if longest >= tokens:
            what = f"data.max_length ({longest}) must be below train.batch_tokens ({tokens})"
            yield f"{what}: the longest sentence and its end mark have to fit into a batch"
        if self.data.slots and self.text.unit == "word":
            yield f"data.slots is {self.data.slots}, but whole words have no slots; set 0, or unit to bpe"
        for name, tag in [("corpus.tag", c.tag) for c in self.data.corpus] + [("dev_tag", self.data.dev_tag)]:
            if tag is not None and tag not in self.text.tags:
                known = ", ".join(self.text.tags) or "none"
                yield f'data.{name} "{tag}" is not one of text.tags; add it to tags under [text] (now: {known})'

    def _reward_conflicts(self) -> Iterator[str]:
        if not self.reward.has_rewards:
            return
        objective, noise = self.reward.objective, self.noise()
        if self.train.start_from is None:
            yield (
                f"reward.objective is {objective}, but there is no trained model to sample translations from; train "
                "one by likelihood first, then set train.start_from to its run"
            )
        for name in ("r_drop", "sampling_rate"):
            if getattr(self.train, name):
                yield f"train.{name} is for training by likelihood, but reward.objective is {objective}; leave it out"
        if objective == "self-critical" and self.reward.baseline == "greedy" and noise:
            yield (
                f"reward.baseline is greedy, which needs a model without dropout, but {noise[0]} is above 0; "
                "set it to 0, or reward.baseline to mean"
            )

    def _loss_conflicts(self) -> Iterator[str]:
        train = self.train
        if train.r_drop and not self.noise():
            yield "train.r_drop compares two passes with dropout, but model.dropout is 0; set it to 0.1 or so"
        if train.guided_layer and not train.guided_weight:
            yield f"train.guided_layer is {train.guided_layer}, but train.guided_weight is 0; set it to 0.1 or so"
        changing = self.text.bpe_dropout > 0 or any(self.data.transforms)
        if train.guided_weight and (changing or self.reward.has_rewards or train.r_drop or train.share_rows == "on"):
            yield (
                "train.guided_weight needs text that is the same in every epoch and a row for each sentence; leave "
                "out bpe_dropout, transforms, rewards, r_drop and share_rows on"
            )

    def noise(self) -> list[str]:
        """Returns the keys that make two passes over one batch differ."""
        kinds = ("dropout", "attention_dropout", "layer_drop")
        noise = [f"model.{name}" for name in kinds if getattr(self.model, name, 0) > 0]
        return noise + (["train.word_dropout"] if self.train.word_dropout > 0 else [])

    def tables(self) -> dict[str, dict[str, Any]]:
        """Returns the recipe as nested tables, with the architecture among the keys of [model]."""
        tables = {name: dataclasses.asdict(getattr(self, name)) for name in SECTIONS}
        return tables | {"model": {"architecture": self.architecture, **tables["model"]}}

    def to_toml(self) -> str:
        parts = []
        for name, table in self.tables().items():
            lines = [f"{k} = {_toml(v)}" for k, v in table.items() if v is not None]
            parts.append("\n".join([f"[{name}]", *lines]))
        return "\n\n".join(parts) + "\n"


def _toml(value: Any) -> str:
    """
    >>> _toml(True), _toml("a\\"b"), _toml((1, 2.5))
    ('true', '"a\\\\"b"', '[1, 2.5]')
    """
    if isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, Mapping):  # an inline table, as for each of [[data.corpus]]
        return "{" + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items() if v is not None) + "}"
    return repr(value)
