"""Recipes from TOML files, tables and settings.

A setting is a (key, word) pair as typed: `("steps", "500")`, `("train.steps", "500")` and `steps = 500` under `[train]`
are the same. An unknown key is an error that names the nearest known one. A recipe that starts from a trained model
has that model's [model] and [text]. No training is started here, and no corpus is opened.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from regard.bundle.bundle import Bundle
from regard.bundle.find_model import find_model
from regard.config import build, describe, keys_of, nearest, nearest_keys, parse, parse_toml
from regard.errors import InputError, RecipeError
from regard.models.table import ARCHITECTURES, check_architecture
from regard.recipe.recipe import SECTIONS, Recipe

MODEL_KEYS = {"architecture": str, "preset": str}  # they select the section's class and its default values


def read_recipe(given: Path | Mapping[str, Any] | None, settings: Iterable[tuple[str, str]] = ()) -> Recipe:
    """Makes a recipe from a TOML file, from tables or from defaults, overridden by `settings`. If it starts from a
    model, keys of [model] and [text] that it does not set are that model's."""
    tables = read_tables(given) if isinstance(given, Path) else given or {}
    settings = list(settings)
    return recipe_from_tables(with_settings(with_start(tables, settings), settings))


def read_tables(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        others = [p.name for p in path.parent.glob("*.toml")]
        hint = f"; {nearest(path.name, others)}" if others else ""
        raise InputError(
            f"no recipe at {path}{hint}; give a TOML file, or the data itself as src and tgt", parameter=("src", "tgt")
        ) from None
    except OSError as problem:
        raise InputError(f"the recipe {path} cannot be read: {problem.strerror}; it must be a TOML file") from None
    except UnicodeDecodeError:
        raise InputError(f"the recipe {path} is not UTF-8 text; it must be a TOML file") from None
    try:
        return parse_toml(text)
    except ValueError as problem:
        raise RecipeError(f"{path} is not TOML: {problem}") from None


def recipe_from_toml(text: str) -> Recipe:
    """Parses a recipe written by `Recipe.to_toml`."""
    return recipe_from_tables(tomllib.loads(text))


def recipe_from_tables(tables: Mapping[str, Any]) -> Recipe:
    check_sections(tables)
    model = dict(tables.get("model", {}))
    architecture = str(model.pop("architecture", "transformer"))
    check_architecture(architecture)
    section, presets, _ = ARCHITECTURES[architecture]
    preset = model.pop("preset", "small")
    if preset not in presets:
        raise RecipeError(f"unknown model.preset {preset!r}; {nearest(str(preset), presets)}")
    whole: Any = build(section, {**dataclasses.asdict(presets[preset]), **model}, "model")
    others: dict[str, Any] = {n: build(s, tables.get(n, {}), n) for n, s in SECTIONS.items() if n != "model"}
    return Recipe(architecture=architecture, model=whole, **others)


def with_start(tables: Mapping[str, Any], settings: Iterable[tuple[str, str]]) -> Mapping[str, Any]:
    """Merges the tables over those of the model named by `start_from`. Another architecture or a preset is kept as
    given; `training/job.py` reports mismatches."""
    choices = ("start_from", *MODEL_KEYS)
    chosen = with_settings(tables, [s for s in settings if s[0].replace("-", "_").rpartition(".")[2] in choices])
    start, model = chosen.get("train", {}).get("start_from"), chosen.get("model", {})
    if not isinstance(start, str):
        return tables
    bundle = Bundle.load(find_model(Path(start)))
    filled = {**tables, "text": {**dataclasses.asdict(bundle.tokenizer.config), **tables.get("text", {})}}
    if model.get("architecture", bundle.architecture) == bundle.architecture and "preset" not in model:
        own = {"architecture": bundle.architecture, **dataclasses.asdict(bundle.config)}
        filled["model"] = {**own, **tables.get("model", {})}
    return filled


def with_settings(tables: Mapping[str, Any], settings: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Adds each setting to its section of the tables; dashes and underscores in keys are the same."""
    check_sections(tables)
    merged: dict[str, Any] = {name: dict(table) for name, table in tables.items()}
    # The architecture first, wherever it was given: it determines which other keys exist.
    for name, word in sorted(settings, key=lambda setting: setting[0] not in ("architecture", "model.architecture")):
        home, bare = find_key(name, merged)
        kind = known_keys(merged)[home][bare]
        try:
            word.encode()  # the name of a file may be bytes that are not UTF-8
            value = parse(word, kind)
        except UnicodeEncodeError:
            raise RecipeError(f"{home}.{bare} must be UTF-8, but is {word!r}; rename the file") from None
        except ValueError:
            raise RecipeError(f'{home}.{bare} must be {describe(kind)}, but is "{word}"') from None
        merged.setdefault(home, {})[bare] = value
    # TOML has no "none"; a key set to it is left out.
    return {name: {k: v for k, v in table.items() if v is not None} for name, table in merged.items()}


def check_sections(tables: Mapping[str, Any]) -> None:
    for name, table in tables.items():
        if name not in SECTIONS:
            home = section_of(name, tables)
            hint = f'it belongs under "[{home}]"' if home else nearest(name, SECTIONS)
            raise RecipeError(f'unknown section or key "{name}" at the top of the recipe; {hint}')
        if not isinstance(table, Mapping):
            raise RecipeError(f'"{name}" must be a section ([{name}] and its keys), but is {table!r}')


def find_key(name: str, tables: Mapping[str, Any]) -> tuple[str, str]:
    """Resolves a key as typed to (section, key); an unknown key is an error that names the nearest known one."""
    section, _, bare = name.replace("-", "_").rpartition(".")
    home = section_of(bare, tables)
    if home is None:
        known = [k for keys in known_keys(tables).values() for k in keys]
        close = tuple(nearest_keys(bare, known))
        hint = f"; {nearest(bare, known)}" if close else ""
        raise RecipeError(f'unknown key "{name}"{hint}', parameter=close)
    if section and section != home:
        raise RecipeError(f'unknown key "{name}"; did you mean "{home}.{bare}"?')
    return home, bare


def known_keys(tables: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns section → key → type; the keys of [model] are those of the architecture that the tables select."""
    model = tables.get("model", {})
    architecture = str(model.get("architecture", "transformer")) if isinstance(model, Mapping) else "transformer"
    section = ARCHITECTURES.get(architecture, ARCHITECTURES["transformer"])[0]
    return {name: {**MODEL_KEYS, **keys_of(section)} if name == "model" else keys_of(s) for name, s in SECTIONS.items()}


def section_of(bare: str, tables: Mapping[str, Any]) -> str | None:
    return next((name for name, keys in known_keys(tables).items() if bare in keys), None)
