"""A recipe: everything a training run depends on, gathered from the sections that stand beside what they configure.

    [data] files and filters   [text] vocabulary   [model] architecture   [train] the loop   [reward] what it is for
    [decode] the search

It is read from TOML, from command-line words, or both; every key has one name, unique over the sections, so `--steps
500`, `--set train.steps=500` and `steps = 500` under `[train]` are the same thing. An unknown key is an error that
names the nearest known one. A recipe that starts from a trained model has that model's [model] and [text]. This file
starts nothing and opens no corpus.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.bundle.bundle import Bundle
from regard.config import build, describe, keys_of, nearest, parse, require
from regard.data.corpus import DataConfig
from regard.decode.beam import DecodeConfig
from regard.errors import InputError, RecipeError
from regard.models.table import ARCHITECTURES, ModelConfig, check_architecture
from regard.models.transformer import TransformerConfig
from regard.recipe.train import RewardConfig, TrainConfig
from regard.text.tokenizer import TextConfig


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
        require(
            self.data.max_length < self.train.batch_tokens,
            f"data.max_length ({self.data.max_length}) must be below train.batch_tokens ({self.train.batch_tokens}): "
            f"the longest sentence and its end mark have to fit into a batch",
        )
        require(
            self.train.start_from is not None or not self.reward.has_rewards,
            f"reward.objective is {self.reward.objective}, but there is no trained model to draw translations from; "
            "train one by likelihood first, then add --start-from RUN",
        )
        for name in ("r_drop", "sampling_rate"):
            require(
                getattr(self.train, name) == 0 or not self.reward.has_rewards,
                f"train.{name} is for training by likelihood, but reward.objective is {self.reward.objective}; "
                f"leave out --{name.replace('_', '-')}",
            )
        changing = self.text.bpe_dropout > 0 or any(self.data.transforms)
        require(
            self.train.guided_weight == 0
            or not (changing or self.reward.has_rewards or self.train.r_drop or self.train.share_rows == "on"),
            "train.guided_weight needs text that is the same in every epoch and a row for each sentence; leave out "
            "bpe_dropout, transforms, rewards, r_drop and share_rows on",
        )
        require(
            self.train.guided_layer == 0 or self.train.guided_weight > 0,
            f"train.guided_layer is {self.train.guided_layer}, but train.guided_weight is 0; add --guided-weight 0.1",
        )
        known = f"add it to tags under [text] (now: {', '.join(self.text.tags) or 'none'})"
        for name, tag in [("corpus.tag", c.tag) for c in self.data.corpus] + [("dev_tag", self.data.dev_tag)]:
            require(tag is None or tag in self.text.tags, f'data.{name} "{tag}" is not one of text.tags; {known}')
        kinds = ("dropout", "attention_dropout", "layer_drop")
        noisy = [f"model.{name}" for name in kinds if getattr(self.model, name, 0) > 0]
        noisy += ["train.word_dropout"] if self.train.word_dropout > 0 else []
        require(
            self.reward.objective != "self-critical" or self.reward.baseline == "mean" or not noisy,
            f"reward.baseline is greedy, which needs a model without dropout, but {''.join(noisy[:1])} is above 0 "
            "and would unlearn what was learnt; add --dropout 0, or --baseline mean",
        )
        require(
            self.train.r_drop == 0 or bool(noisy),
            "train.r_drop compares two passes with dropout, but model.dropout is 0 and they would be one; "
            "add --dropout 0.1",
        )

    def tables(self) -> dict[str, dict[str, Any]]:
        """The recipe as nested tables, the model's choice of architecture among its keys."""
        tables = {name: dataclasses.asdict(getattr(self, name)) for name in SECTIONS if name != "model"}
        model = {"architecture": self.architecture, **dataclasses.asdict(self.model)}
        return {name: model if name == "model" else tables[name] for name in SECTIONS}

    def to_toml(self) -> str:
        parts = []
        for name, table in self.tables().items():
            lines = [f"{k} = {_toml(v)}" for k, v in table.items() if v is not None]
            parts.append("\n".join([f"[{name}]", *lines]))
        return "\n\n".join(parts) + "\n"


SECTIONS: dict[str, type] = {
    "data": DataConfig,
    "text": TextConfig,
    "model": TransformerConfig,
    "train": TrainConfig,
    "reward": RewardConfig,
    "decode": DecodeConfig,
}
MODEL_KEYS = {"architecture": str, "preset": str}  # they choose the section's class and its starting values


def read_recipe(given: Path | Mapping[str, Any] | None, settings: Iterable[tuple[str, str]] = ()) -> Recipe:
    """A recipe from a TOML file, from tables or from nothing, with command-line words laid over it. Where it starts
    from a model, what it leaves open in [model] and [text] is that model's."""
    tables = read_tables(given) if isinstance(given, Path) else given or {}
    settings = list(settings)
    return recipe_from_tables(with_settings(with_start(tables, settings), settings))


def with_start(tables: Mapping[str, Any], settings: Iterable[tuple[str, str]]) -> Mapping[str, Any]:
    """The tables over those of the model that `start_from` names. Another architecture or a preset stands as it was
    named; `training/start.py` then says what does not fit."""
    choices = ("start_from", *MODEL_KEYS)
    chosen = with_settings(tables, [s for s in settings if s[0].replace("-", "_").rpartition(".")[2] in choices])
    start, model = chosen.get("train", {}).get("start_from"), chosen.get("model", {})
    if not isinstance(start, str):
        return tables
    bundle = Bundle.load(Path(start))
    filled = {**tables, "text": {**dataclasses.asdict(bundle.tokenizer.config), **tables.get("text", {})}}
    if model.get("architecture", bundle.architecture) == bundle.architecture and "preset" not in model:
        own = {"architecture": bundle.architecture, **dataclasses.asdict(bundle.config)}
        filled["model"] = {**own, **tables.get("model", {})}
    return filled


def read_tables(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        others = [p.name for p in path.parent.glob("*.toml")]
        hint = f"{nearest(path.name, others)}; " if others else ""
        raise InputError(
            f"no recipe at {path}; {hint}give a TOML file, or the data itself: --src FILE --tgt FILE"
        ) from None
    except OSError as problem:
        raise InputError(f"the recipe {path} cannot be read: {problem.strerror}; it must be a TOML file") from None
    except UnicodeDecodeError:
        raise InputError(f"the recipe {path} is not UTF-8 text; it must be a TOML file") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise RecipeError(f"{path} is not TOML: {problem}") from None


def check_sections(tables: Mapping[str, Any]) -> None:
    for name, table in tables.items():
        if name not in SECTIONS:
            home = section_of(name, tables)
            hint = f'it belongs under "[{home}]"' if home else nearest(name, SECTIONS)
            raise RecipeError(f'unknown section or key "{name}" at the top of the recipe; {hint}')
        if not isinstance(table, Mapping):
            raise RecipeError(f'"{name}" must be a section ([{name}] and its keys), but is {table!r}')


def recipe_from_tables(tables: Mapping[str, Any]) -> Recipe:
    check_sections(tables)
    model = dict(tables.get("model", {}))
    architecture = str(model.pop("architecture", "transformer"))
    check_architecture(architecture)
    section, presets, _ = ARCHITECTURES[architecture]
    preset = model.pop("preset", "small")
    if preset not in presets:
        raise RecipeError(f"unknown model.preset {preset!r}; {nearest(str(preset), presets)}")
    build(section, model, "model")  # unknown keys and wrong types are named before anything is merged
    start = dataclasses.asdict(presets[preset])
    built: dict[str, Any] = {n: build(s, tables.get(n, {}), n) for n, s in SECTIONS.items() if n != "model"}
    return Recipe(architecture=architecture, model=build(section, {**start, **model}, "model"), **built)


def with_settings(tables: Mapping[str, Any], settings: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Lay (key, word) pairs over the tables; a key is `steps` or `train.steps`, dashes and underscores alike."""
    check_sections(tables)
    merged: dict[str, Any] = {name: dict(table) for name, table in tables.items()}
    # The architecture first, wherever it stands: it decides which other keys there are.
    for name, word in sorted(settings, key=lambda setting: setting[0] not in ("architecture", "model.architecture")):
        home, bare = find_key(name, merged)
        kind = known_keys(merged)[home][bare]
        try:
            word.encode()  # a file's name that is not UTF-8 fits into no recipe
            value = parse(word, kind)
        except UnicodeEncodeError:
            raise RecipeError(f"{home}.{bare} must be UTF-8, but is {word!r}; rename the file") from None
        except ValueError:
            raise RecipeError(f'{home}.{bare} must be {describe(kind)}, but is "{word}"') from None
        merged.setdefault(home, {})[bare] = value
    # TOML cannot say "none"; a key set to it is simply absent.
    return {name: {k: v for k, v in table.items() if v is not None} for name, table in merged.items()}


def find_key(name: str, tables: Mapping[str, Any]) -> tuple[str, str]:
    """(section, key) of a key as it is typed; one that is not known is an error that names the nearest."""
    section, _, bare = name.replace("-", "_").rpartition(".")
    home = section_of(bare, tables)
    if home is None:
        hint = nearest(bare, [k for keys in known_keys(tables).values() for k in keys])
        raise RecipeError(
            f'unknown key "{name}"; ' + (hint if "did you mean" in hint else "regard train --help lists all keys")
        )
    if section and section != home:
        raise RecipeError(f'unknown key "{name}"; did you mean "{home}.{bare}"?')
    return home, bare


def known_keys(tables: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Section → key → type, the model's by the architecture that the tables choose."""
    model = tables.get("model", {})
    architecture = str(model.get("architecture", "transformer")) if isinstance(model, Mapping) else "transformer"
    section = ARCHITECTURES.get(architecture, ARCHITECTURES["transformer"])[0]
    return {name: {**MODEL_KEYS, **keys_of(section)} if name == "model" else keys_of(s) for name, s in SECTIONS.items()}


def section_of(bare: str, tables: Mapping[str, Any]) -> str | None:
    return next((name for name, keys in known_keys(tables).items() if bare in keys), None)


def _toml(value: Any) -> str:
    """
    >>> _toml(True), _toml("a\\"b"), _toml((1, 2.5))
    ('true', '"a\\\\"b"', '[1, 2.5]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        escaped = "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped)
        return f'"{escaped}"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, Mapping):  # a table of its own, as of [[data.corpus]], written in one line
        return "{" + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items() if v is not None) + "}"
    return repr(value)
