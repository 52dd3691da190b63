"""The model card: what someone should know of a model before trusting it.

Training writes what it knows by itself: recipe, steps, cost, versions, scores. What a person must say is the section
`about`, read from a TOML file and checked here:

    title = "English to French, short everyday sentences"
    languages = ["English", "French"]
    training = "One sentence on how it was trained."
    limits = ["What it cannot do."]

    [[data]]
    name = "Tatoeba"
    licence = "CC BY 2.0 FR"
    attribution = "who made it"
    url = "https://tatoeba.org"

The section `tests` holds scores of exactly these weights, by the name of the test set; `benchmarks/box.py` measures
them. Printing is the command line's affair.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.config import build, key, keys_of, require
from regard.errors import InputError

SCORES = ("dev_bleu", "test_bleu", "tests")  # what holds for the weights as they are, and for no others
MEASURED = (*SCORES, "attention_view")  # what holds for the sources as they are: with a tag before them it may not


@dataclass(frozen=True)
class Data:
    """One collection that was learnt from."""

    name: str = key("", "what it is called")
    licence: str = key("", "the terms it may be used under")
    attribution: str = key("", "who made it, as the licence wants it said")
    url: str = key("", "where it is found")

    def __post_init__(self) -> None:
        _all_said(self, "data")


@dataclass(frozen=True)
class About:
    """What a person says of a model."""

    title: str = key("", "what it is, in a line")
    languages: tuple[str, ...] = key((), "from which to which")
    data: tuple[Data, ...] = key((), "what it was trained on")
    training: str = key("", "how it was trained, in a sentence or two")
    limits: tuple[str, ...] = key((), "what it is not for")

    def __post_init__(self) -> None:
        _all_said(self, "about")
        require(len(self.languages) == 2, f"about.languages must be two, from and to, but there are {self.languages}")


def _all_said(section: Data | About, where: str) -> None:
    for name in keys_of(type(section)):
        require(bool(getattr(section, name)), f"{where}.{name} must be said in a model's card, but is missing")


def read_about(path: Path) -> dict[str, Any]:
    """The section of a card that a TOML file holds."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from None
    except ValueError as problem:  # no TOML, or no UTF-8
        raise InputError(f"{path} is no TOML file: {problem}") from None
    return dataclasses.asdict(build(About, tables, "about"))


def without_places(value: Any) -> Any:
    """A card without the folders of the machine it was made on: of an absolute path its last name is left.

    >>> without_places({"data": {"src": "/home/me/train.en", "beam": 5}})
    {'data': {'src': 'train.en', 'beam': 5}}
    """
    if isinstance(value, Mapping):
        return {name: without_places(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_places(v) for v in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


def card_rows(card: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the card says, as lines under headings; a heading of which it says nothing is not there."""
    about, pairs = card.get("about", {}), card.get("pairs", {})
    rows = {
        "title": [about["title"]] if about else [],
        "languages": [" → ".join(about["languages"])] if about else [],
        "data": [
            line
            for d in about.get("data", ())
            for line in (f"{d['name']}, {d['licence']}, {d['url']}", d["attribution"])
        ],
        "pairs": [f"{pairs['kept']:,} to learn from"] if "kept" in pairs else [],
        "training": [about["training"]] if about else [],
        "trained": [_effort(card)],
        "cost": [f"{card['training_flops']:.3g} FLOPs" if "training_flops" in card else "not counted"],
        "dev BLEU": _score(card.get("dev_bleu")),
        "test BLEU": _score(card.get("test_bleu")),
        "tests": [line for name, found in card.get("tests", {}).items() for line in _test(name, found)],
        "limits": list(about.get("limits", ())),
        "made with": [f"regard {card.get('regard', '?')}, torch {card.get('torch', '?')}"],
    }
    return {name: lines for name, lines in rows.items() if lines}


def _effort(card: Mapping[str, Any]) -> str:
    steps, tokens, seconds = (card.get(name, 0) for name in ("step", "target_tokens", "training_seconds"))
    return f"{steps:,} steps, {tokens:,} target tokens, {seconds:,.0f} s on {card.get('device', '?')}"


def _score(found: Mapping[str, Any] | None) -> list[str]:
    return [f"{found['score']:.2f}  {found['signature']}"] if found else []


def _test(name: str, found: Mapping[str, Any]) -> list[str]:
    """A test set and its scores, each with its signature."""
    if "exact" in found:
        return [f"{name}: {found['exact']} of {found['sentences']} sentences exactly as wanted"]
    first = f"{name}, {found['sentences']:,} sentences, beam {found['beam']}"
    return [first, *(f"{m['name']} {m['score']:.2f}  {m['signature']}" for m in found["metrics"])]
