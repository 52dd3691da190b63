"""Converts a Marian configuration to one of our Transformer, or refuses it, and makes the card of an imported model.

Hugging Face ranks a hypothesis by log P / lengthᵅ, ours by log P / ((5 + length) / 6)ᵅ (Wu et al. 2016). α is not
converted: both grow with the same power of the length, so long hypotheses rank alike and very short ones gain a little.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from regard.bundle.card import MAX_BEAM, MAX_LENGTH_PENALTY
from regard.bundle.folder import one_line, read_json
from regard.config import build
from regard.errors import BundleError, InputError, RegardError
from regard.models.common import LARGEST, MOST_LAYERS
from regard.models.transformer_layers import TransformerConfig
from regard.text.language import language_name, to_iso_639_1
from regard.version import __version__

CLASS = "MarianMTModel"
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
# Options of early models of this type, which transformers' class does not support either.
ELSEWHERE = ("normalize_before", "normalize_embedding", "add_final_layer_norm", "add_bias_logits")


@dataclass(frozen=True)
class MarianSizes:
    """The parsed config.json."""

    model: TransformerConfig  # with `tie` as for a joint vocabulary
    source: int  # entries of the vocabularies
    target: int
    pad: int
    eos: int
    scaled: bool  # embeddings are multiplied by √D, as ours are
    shared: bool  # one matrix for source, target and output
    tied: bool  # one matrix for target and output
    positions: int  # tokens of the longest sentence


def read_sizes(folder: Path) -> MarianSizes:
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} has no config.json; give the folder of a model as Hugging Face stores it")
    found = optional_json(folder / "config.json")
    check_class(found, folder)
    read = _Reader(found, folder / "config.json")
    for side in ("ffn_dim", "attention_heads"):
        if read.whole(f"encoder_{side}") != read.whole(f"decoder_{side}"):
            raise InputError(
                f"{read.path} has another {side} in the encoder than in the decoder, which ours cannot have"
            )
    for name in ELSEWHERE:
        if found.get(name):
            raise InputError(f"{read.path} sets {name}, which is not a part of {CLASS}")
    activation = found.get("activation_function", "gelu")
    if activation not in ACTIVATIONS:
        found_one, known = one_line(repr(activation)), ", ".join(ACTIVATIONS)
        raise InputError(f"{read.path} has the activation {found_one}; those that can be read: {known}")
    pad, eos = read.whole("pad_token_id", 0), read.whole("eos_token_id", 0)
    if found.get("decoder_start_token_id", pad) != pad:
        raise InputError(f"{read.path} starts decoding with another token than its pad_token_id, which Marian does not")
    source = read.whole("vocab_size")
    target = read.whole("decoder_vocab_size") if found.get("decoder_vocab_size") is not None else source
    if not (0 <= pad < min(source, target) and 0 <= eos < min(source, target) and pad != eos):
        raise InputError(f"{read.path} has pad_token_id {pad} and eos_token_id {eos}, which are not two of its entries")
    tied = read.truth("tie_word_embeddings", True)
    shared = tied and read.truth("share_encoder_decoder_embeddings", True)
    if shared and source != target:
        raise InputError(f"{read.path} shares one matrix of embeddings, but has {source:,} and {target:,} entries")
    table = {
        "width": read.whole("d_model"),
        "heads": read.whole("encoder_attention_heads"),
        "inner": read.whole("encoder_ffn_dim"),
        "encoder_layers": read.whole("encoder_layers"),
        "decoder_layers": read.whole("decoder_layers"),
        "dropout": read.share("dropout"),
        "attention_dropout": read.share("attention_dropout"),
        "norm": "post",
        "activation": ACTIVATIONS[activation],
        "tie": "all" if shared else "target" if tied else "none",
        "output_bias": True,
    }
    try:
        model = build(TransformerConfig, table, "model")
    except RegardError as problem:
        raise InputError(f"{read.path} cannot be used: {one_line(problem)}") from None
    scaled, positions = read.truth("scale_embedding", False), read.whole("max_position_embeddings")
    return MarianSizes(model, source, target, pad, eos, scaled, shared, tied, positions)


def check_class(found: Mapping[str, Any], folder: Path) -> None:
    """Raises unless the model computes the same as `MarianMTModel`."""
    classes = found.get("architectures") or []
    kind = classes[0] if isinstance(classes, list) and classes else found.get("model_type")
    if found.get("model_type") == "marian" and kind in (CLASS, "marian"):
        return
    what = f"holds a model of the class {one_line(repr(kind))}"
    if kind == CLASS:
        what = f"has the model_type {one_line(repr(found.get('model_type')))} in config.json, not 'marian'"
    raise InputError(f"{folder} {what}; what can be imported: {CLASS} (OPUS-MT; docs/marian.md says why not others)")


@dataclass(frozen=True)
class _Reader:
    """Reads values of config.json by name and checks their types."""

    found: Mapping[str, Any]
    path: Path

    def whole(self, name: str, least: int = 1) -> int:
        most = MOST_LAYERS if name.endswith("layers") else LARGEST
        return int(self._value(name, int, f"a whole number from {least} to {most:,}", bounds=(least, most)))

    def share(self, name: str) -> float:
        return float(self._value(name, (int, float), "a number from 0 to 1", 0.0, (0, 1)))

    def truth(self, name: str, default: bool) -> bool:
        return bool(self._value(name, bool, "true or false", default))

    def _value(
        self,
        name: str,
        kind: type | tuple[type, ...],
        wanted: str,
        default: object = None,
        bounds: tuple[int, int] | None = None,
    ) -> Any:
        value = self.found.get(name, default)
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not fits or (bounds and not bounds[0] <= value <= bounds[1]):
            raise InputError(f"{self.path}: {name} must be {wanted}, but is {one_line(repr(value))}")
        return value


MAX_README_BYTES = 100_000  # bytes that are read
MAX_TEXT_CHARS = 200  # maximum length of a licence or a name
HEAD = re.compile(r"---\n(.*?)\n---\s", re.DOTALL)  # the YAML header of a model card
PAIR = re.compile(r"opus-mt-(?:[\w-]+-)?([a-z]{2,3})-([a-zA-Z_]+)$")  # opus-mt-en-fr, opus-mt-tc-big-en-fr


def card_of(folder: Path, config: TransformerConfig, positions: int) -> dict[str, Any]:
    """Makes the card of a model from the files in its folder."""
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
    """Returns section [decode]: beam and length penalty of generation_config.json, or config.json in older models."""
    found = {**config, **optional_json(folder / "generation_config.json")}
    beam, penalty = found.get("num_beams", 1), found.get("length_penalty", 1.0)
    beam = min(max(beam, 1), MAX_BEAM) if isinstance(beam, int) and not isinstance(beam, bool) else 1
    penalty = min(max(float(penalty), 0.0), MAX_LENGTH_PENALTY) if isinstance(penalty, (int, float)) else 1.0
    return {"beam": beam, "length_penalty": penalty}


def find_languages(tokenizer: Mapping[str, Any], name: str) -> list[str | None]:
    """Returns ISO codes of source and target, from the tokenizer or the model's name; None for a group of languages.

    >>> find_languages({}, "Helsinki-NLP/opus-mt-tc-big-en-fr"), find_languages({"source_lang": "eng"}, "mine")
    (['en', 'fr'], ['en', None])
    """
    pair = PAIR.search(name)
    called = pair.groups() if pair else ("", "")
    said = [text_of(tokenizer.get(side)) for side in ("source_lang", "target_lang")]
    return [to_iso_639_1(one) or to_iso_639_1(other) for one, other in zip(said, called, strict=True)]


def read_head(path: Path) -> Mapping[str, Any]:
    """Reads the YAML header of a README.md of the hub; empty if there is none that can be read."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_README_BYTES).decode("utf-8", "replace")
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
    return one_line(value)[:MAX_TEXT_CHARS] if isinstance(value, str) else ""


def fingerprint(folder: Path) -> str:
    """Returns the first digits of the weights' SHA-256."""
    for path in (folder / "model.safetensors", folder / "pytorch_model.bin"):
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return ""
