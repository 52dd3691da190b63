"""The files of a bundle: their paths, untrusted JSON, and checksums.

With `"beside": "../en-fr"` in config.json, vocabulary and weights that the folder lacks are those of the folder en-fr
next to it. `updates.safetensors` then has low-rank updates that are added to those weights.

A JSON file that is not a plain JSON object raises a `BundleError`.

Checksums of weights and tokenizer are in the format of `sha256sum`, which can check them too. They are removed before a
bundle is overwritten and written last, so that an interrupted save leaves files without checksums, never files with
wrong ones. A bundle without checksums, as written by older versions, is accepted.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from regard.bundle import bundled_models
from regard.bundle.bundled_models import check_pair
from regard.errors import BundleError, InputError
from regard.files import write_atomically

MAX_DEPTH = 50  # levels of nesting
MAX_JSON_BYTES = 16_000_000  # a card has a few thousand
MAX_MESSAGE_CHARS = 300  # maximum length of another error's text


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object. NaN, infinity, numbers beyond 64 bits and invalid Unicode are refused."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise ValueError(f"it is larger than {MAX_JSON_BYTES // 1_000_000} MB")
        text = path.read_text(encoding="utf-8")
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
        _check(value)
    except (OSError, ValueError, RecursionError) as problem:
        raise BundleError(f"{path} cannot be read: {one_line(problem)}") from None
    if not isinstance(value, dict):
        raise BundleError(f"{path} must hold a JSON object, but holds {type(value).__name__}")
    return value


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def one_line(problem: object) -> str:
    """Formats an error's text for the end of a message: one line of limited length.

    >>> one_line(ValueError("first\\nsecond"))
    'first second'
    """
    text = " ".join(str(problem).split())
    return text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + " …"


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def _finite(word: str) -> float:
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(f"{word[:40]} is too large a number")
    return value


def _whole(word: str) -> int:
    value = int(word)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{word[:40]} is too large a whole number")
    return value


def _check(value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        value.encode()  # raises for a lone surrogate
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check(name, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


CHECKSUMS = "SHA256SUMS"
CHECKSUM_LINE = re.compile(r"([0-9a-f]{64})  (\S+)")
MAX_CHECKSUMS_BYTES = 10_000  # maximum size of the file


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Writes the checksums of those of these files that are in the folder."""
    found = [name for name in names if (folder / name).is_file()]
    text = "".join(f"{_digest(folder / name)}  {name}\n" for name in found)
    if text:
        write_atomically(folder / CHECKSUMS, lambda path: path.write_text(text, encoding="utf-8"))


def verify(path: Path) -> None:
    """Raises if a file does not match the checksum in its folder; files without a checksum are accepted."""
    wanted = read_checksums(path.parent).get(path.name)
    if wanted is not None and _digest(path) != wanted:
        raise BundleError(f"{path} is damaged: its checksum differs from the one in {CHECKSUMS}; copy it again")


def read_checksums(folder: Path) -> dict[str, str]:
    """Reads checksums by file name; empty if the folder has none."""
    path = folder / CHECKSUMS
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > MAX_CHECKSUMS_BYTES:
            raise ValueError(f"more than {MAX_CHECKSUMS_BYTES:,} bytes")
        lines = [(line, CHECKSUM_LINE.fullmatch(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as problem:
        raise BundleError(f"{path} cannot be read: {problem}") from None
    for line, match in lines:
        if match is None:
            raise BundleError(f"{path} must hold lines of a SHA-256 sum, two spaces and a file name, not {line[:90]!r}")
    return {match[2]: match[1] for _, match in lines if match}


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise BundleError(f"{path} cannot be read: {problem.strerror or problem}") from None


Storage = Literal["float32", "float16", "int8"]  # how weights are stored (`weights.py`)
CONFIG, TOKENIZER, WEIGHTS, CARD = PARTS = ("config.json", "tokenizer.json", "model.safetensors", "card.json")
SHARED = (TOKENIZER, WEIGHTS)  # parts that may be shared with another bundle
LEXICON = "lexicon.json"
WORDS = "words.txt.gz"  # known words
UPDATES = "updates.safetensors"
BESIDE = re.compile(r"\.\./(?!\.{1,2}$)[^/\\\0]+")  # only a sibling folder: both are moved together


def find_bundle(folder: Path) -> Path:
    """Finds the bundle in a folder: the folder itself, or `best` or `last` of a training run. If there is no such
    folder, returns the bundled model of that name."""
    if not folder.exists() and str(folder) in bundled_models.names():
        return bundled_models.folder_of(str(folder))
    if not folder.exists():
        check_pair(str(folder))
    if not folder.is_dir():
        hint = "; a model is a folder" if folder.exists() else ""
        raise BundleError(
            f"no model at {folder}{hint}; give a bundle or a run folder made by regard train, "
            f"or {bundled_models.suggestion()}"
        )
    run = (folder / "recipe.toml").is_file()
    places = [folder / "best", folder / "last"] if run else [folder]
    missing = {place: [name for name in PARTS if not part(place, name).is_file()] for place in places}
    for place, parts in missing.items():
        if not parts:
            return place
    if run:
        raise BundleError(f"the run {folder} has no model yet; it gets one at its first checkpoint")
    if len(missing[folder]) < len(PARTS):
        parts_missing = ", ".join(missing[folder])
        raise BundleError(f"{folder} is missing {parts_missing}; a bundle holds {', '.join(PARTS)}")
    raise BundleError(f"no model in {folder}; a bundle holds {', '.join(PARTS)}, and a run holds best/ or last/")


def check_new(out: Path) -> None:
    """Raises if a folder that is to be written exists already."""
    if out.exists():
        raise InputError(f"{out} is there already; name a folder that does not exist yet", parameter="out")


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Yields a temporary folder, which is renamed to `out` at the end of the block, or removed if the block raises."""
    check_new(out)
    work = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    work.mkdir(parents=True)
    try:
        yield work
        work.rename(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def part(folder: Path, name: str) -> Path:
    """Returns the path of a part of a bundle, which may not exist: in its folder, or in the one beside it."""
    own = folder / name
    if name not in SHARED or own.is_file():
        return own
    other = beside(folder)
    return own if other is None else other / name


def beside(folder: Path) -> Path | None:
    """Returns the folder of the bundle whose vocabulary and weights this one uses if it has none of its own."""
    config = folder / CONFIG
    named = read_json(config).get("beside") if config.is_file() else None
    if named is None:
        return None
    if not (isinstance(named, str) and BESIDE.fullmatch(named)):
        raise BundleError(
            f'{config}: "beside" must name a folder next to its own, such as "../en-fr", but is {one_line(repr(named))}'
        )
    other = (folder / named).resolve()
    its_config = other / CONFIG
    if its_config.is_file() and "beside" in read_json(its_config):
        raise BundleError(f"{folder} uses the files of {other}, which uses another's; name that one in {config}")
    missing = [name for name in PARTS if not (other / name).is_file()]
    if missing:
        what = f"is missing {', '.join(missing)}" if other.is_dir() else "is not there"
        raise BundleError(f"{folder} uses the files of {other}, which {what}; put the two folders side by side again")
    return other


def updates(folder: Path) -> Path | None:
    """Returns the file of updates to the weights of the bundle beside this one; None if it has weights of its own."""
    path = folder / UPDATES
    return path if path.is_file() and not (folder / WEIGHTS).is_file() else None


def weights_file(folder: Path) -> Path:
    """Returns the file that identifies a bundle's weights: its updates, if any, else the weights."""
    return updates(folder) or part(folder, WEIGHTS)
