"""The card of a model that was imported: where it comes from, what it says of itself, how it searches.

Hugging Face ranks a hypothesis by log P / lengthᵅ, ours by log P / ((5 + length) / 6)ᵅ (Wu et al. 2016). α is taken as
it is: both grow with the length to the same power, so long hypotheses rank alike and very short ones gain a little.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from regard.bundle.json_file import one_line, read_json
from regard.bundle.search_config import MOST_BEAMS, STEEPEST
from regard.errors import BundleError, InputError
from regard.models.transformer_layers import TransformerConfig
from regard.text.language import language_name, to_iso_639_1
from regard.version import __version__

LONGEST_README = 100_000  # bytes that are looked at
LONGEST = 200  # characters of a licence or a name
HEAD = re.compile(r"---\n(.*?)\n---\s", re.DOTALL)  # what a model card begins with
PAIR = re.compile(r"opus-mt-(?:[\w-]+-)?([a-z]{2,3})-([a-zA-Z_]+)$")  # opus-mt-en-fr, opus-mt-tc-big-en-fr


def card_of(folder: Path, config: TransformerConfig, positions: int) -> dict[str, Any]:
    """What is known of a model from its folder."""
    config_json, head = optional_json(folder / "config.json"), read_head(folder / "README.md")
    name = text_of(config_json.get("_name_or_path")) or folder.resolve().name
    languages = find_languages(optional_json(folder / "tokenizer_config.json"), name)
    licence = text_of(head.get("license"))
    about = {
        "title": f"{name}, imported",
        **({"languages": [language_name(code) for code in languages if code]} if all(languages) else {}),
        "data": [{"name": "OPUS", "licence": licence, "url": "https://opus.nlpl.eu"}] if licence else [],
        "limits": ["Its length penalty is the exponent of another formula (docs/marian.md)."],
    }
    return {
        "regard": __version__,
        "imported": {
            "class": "MarianMTModel",
            "name": name,
            "weights": fingerprint(folder),
            **({"licence": licence} if licence else {}),
        },
        "languages": languages,
        "about": about,
        "recipe": {
            "data": {"max_length": positions},
            "model": {"architecture": "transformer", **dataclasses.asdict(config)},
            "decode": decode_of(folder, config_json),
        },
    }


def decode_of(folder: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """Section [decode]: beam and length penalty of generation_config.json, in older models of config.json."""
    found = {**config, **optional_json(folder / "generation_config.json")}
    beam, penalty = found.get("num_beams", 1), found.get("length_penalty", 1.0)
    beam = min(max(beam, 1), MOST_BEAMS) if isinstance(beam, int) and not isinstance(beam, bool) else 1
    penalty = min(max(float(penalty), 0.0), STEEPEST) if isinstance(penalty, (int, float)) else 1.0
    return {"beam": beam, "length_penalty": penalty}


def find_languages(tokenizer: Mapping[str, Any], name: str) -> list[str | None]:
    """ISO codes of source and target, of what the tokenizer says or the model is called; None for a group of them.

    >>> find_languages({}, "Helsinki-NLP/opus-mt-tc-big-en-fr"), find_languages({"source_lang": "eng"}, "mine")
    (['en', 'fr'], ['en', None])
    """
    pair = PAIR.search(name)
    called = pair.groups() if pair else ("", "")
    said = [text_of(tokenizer.get(side)) for side in ("source_lang", "target_lang")]
    return [to_iso_639_1(one) or to_iso_639_1(other) for one, other in zip(said, called, strict=True)]


def read_head(path: Path) -> Mapping[str, Any]:
    """The YAML that a README.md of the hub begins with; nothing where there is none that can be read."""
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST_README).decode("utf-8", "replace")
        found = HEAD.match(text)
        value = yaml.safe_load(found[1]) if found else None
    except (OSError, yaml.YAMLError, RecursionError, ValueError):
        return {}
    return value if isinstance(value, Mapping) else {}


def optional_json(path: Path) -> dict[str, Any]:
    try:
        return read_json(path) if path.is_file() else {}
    except BundleError as problem:
        raise InputError(str(problem)) from None


def text_of(value: object) -> str:
    return one_line(value)[:LONGEST] if isinstance(value, str) else ""


def fingerprint(folder: Path) -> str:
    """The first digits of the weights' SHA-256."""
    for path in (folder / "model.safetensors", folder / "pytorch_model.bin"):
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return ""
