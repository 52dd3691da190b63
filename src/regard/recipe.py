"""A recipe: everything a training run depends on, gathered from the sections that stand beside what they configure.

    [data] files and filters   [text] vocabulary   [model] architecture   [train] the loop   [decode] the search

It is read from TOML, from command-line words, or both; every key has one name, unique over the sections, so `--steps
500`, `--set train.steps=500` and `steps = 500` under `[train]` are the same thing. An unknown key is an error that
names the nearest known one. This file starts nothing and opens no corpus.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from regard.bundle import ARCHITECTURES, ModelConfig, check_architecture
from regard.config import build, describe, key, keys_of, nearest, parse, require
from regard.data.corpus import DataConfig
from regard.decode.beam import DecodeConfig
from regard.errors import InputError, RecipeError
from regard.models.transformer import TransformerConfig
from regard.text.tokenizer import TextConfig


@dataclass(frozen=True)
class TrainConfig:
    steps: int = key(10_000, "updates of the weights")
    minutes: float | None = key(None, "stop, resumably, after this much time even if steps are left")
    flops: float | None = key(None, "stop, resumably, after this many floating-point operations")
    batch_tokens: int = key(3072, "most tokens of a batch on either side, padding included")
    accumulate: int = key(1, "batches per update")
    optimizer: Literal["adamw", "muon"] = key("adamw", "muon makes updates of matrices orthogonal")
    learning_rate: float = key(1e-3, "the schedule's peak")
    schedule: Literal["inverse-sqrt", "cosine", "wsd", "constant"] = key("inverse-sqrt", "how the rate moves")
    warmup: int = key(1000, "updates of linear warm-up")
    decay: int = key(2000, "updates of the last, falling part of wsd")
    weight_decay: float = key(0.0, "AdamW's decay of matrices (not of biases and norms)")
    clip: float = key(1.0, "largest norm of the gradient; 0 does not clip")
    label_smoothing: float = key(0.1, "probability spread over all words of the vocabulary")
    average: Literal["none", "ema", "last"] = key(
        "none", "weights used: the latest, a moving mean, or a mean of the last"
    )
    ema_decay: float = key(0.999, "how slowly the moving mean moves")
    average_last: int = key(5, "evaluations whose weights average = last takes the mean of")
    eval_every: int = key(500, "updates between evaluations on the development set")
    save_every: int = key(500, "updates between checkpoints")
    log_every: int = key(10, "updates between lines of metrics.jsonl")
    patience: int = key(0, "evaluations without a better BLEU before stopping; 0 never stops early")
    seed: int = key(1, "of initial weights, batch order and dropout")
    device: Literal["auto", "cuda", "mps", "cpu"] = key("auto", "cuda before mps before cpu")
    precision: Literal["auto", "float32", "bfloat16"] = key("auto", "bfloat16 on cuda, float32 elsewhere")

    def __post_init__(self) -> None:
        for name in ("steps", "batch_tokens", "accumulate", "warmup", "decay", "average_last"):
            value = getattr(self, name)
            require(value >= 1, f"train.{name} must be at least 1, but is {value}")
        for name in ("eval_every", "save_every", "log_every"):
            value = getattr(self, name)
            require(value >= 1, f"train.{name} must be at least 1, but is {value}")
        for name in ("patience", "clip", "weight_decay"):
            value = getattr(self, name)
            require(value >= 0, f"train.{name} must not be negative, but is {value}")
        require(self.seed >= 0, f"train.seed must not be negative, but is {self.seed}")
        require(self.learning_rate > 0, f"train.learning_rate must be positive, but is {self.learning_rate}")
        for name in ("label_smoothing", "ema_decay"):
            value = getattr(self, name)
            require(0 <= value < 1, f"train.{name} must be at least 0 and below 1, but is {value}")
        for name in ("minutes", "flops"):
            value = getattr(self, name)
            require(value is None or value > 0, f"train.{name} must be positive, but is {value}")


@dataclass(frozen=True)
class Recipe:
    data: DataConfig = field(default_factory=DataConfig)
    text: TextConfig = field(default_factory=TextConfig)
    architecture: str = "transformer"
    model: ModelConfig = field(default_factory=TransformerConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        require(
            self.data.max_length < self.train.batch_tokens,
            f"data.max_length ({self.data.max_length}) must be below train.batch_tokens ({self.train.batch_tokens}): "
            f"the longest sentence and its end mark have to fit into a batch",
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
    "decode": DecodeConfig,
}
MODEL_KEYS = {"architecture": str, "preset": str}  # they choose the section's class and its starting values


def read_recipe(path: Path | None, settings: Iterable[tuple[str, str]] = ()) -> Recipe:
    """A recipe from a TOML file (or from nothing) with command-line words laid over it."""
    return recipe_from_tables(with_settings(read_tables(path) if path else {}, settings))


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


def recipe_from_tables(tables: Mapping[str, Any]) -> Recipe:
    for name, table in tables.items():
        if name not in SECTIONS:
            home = section_of(name, tables)
            hint = f'it belongs under "[{home}]"' if home else nearest(name, SECTIONS)
            raise RecipeError(f'unknown section or key "{name}" at the top of the recipe; {hint}')
        if not isinstance(table, Mapping):
            raise RecipeError(f'"{name}" must be a section ([{name}] and its keys), but is {table!r}')
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
    merged = {name: dict(t) if isinstance(t, Mapping) else t for name, t in tables.items()}
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
    return {name: _without_none(table) for name, table in merged.items()}


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


def _without_none(table: Any) -> Any:
    """TOML cannot say "none"; a key set to it is simply absent."""
    return {k: v for k, v in table.items() if v is not None} if isinstance(table, dict) else table


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
    return repr(value)
