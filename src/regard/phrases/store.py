"""A phrase-based translator as one file: numpy's .npz with its arrays, and in it a text in JSON with everything else.

Nothing in it is code: a file from a stranger can be wrong, but cannot run anything.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.align.wordbased import Writing
from regard.errors import InputError
from regard.files import write_atomically
from regard.phrases.kneser_ney import KneserNey
from regard.phrases.search import FEATURES, Weights
from regard.phrases.table import PhraseTable
from regard.phrases.trie import NgramTrie

_FORMAT = "regard phrase-based translator, 1"
_TRIES = ("source", "target", "language")


class Parts(NamedTuple):
    """What a translator is made of."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    table: PhraseTable
    language: KneserNey
    writing: Writing
    weights: Weights
    config: dict[str, Any]


def save(system: Parts, path: Path) -> None:
    """Under a name that ends in .npz."""
    tries = dict(zip(_TRIES, (system.table.source, system.table.target, system.language.trie), strict=True))
    arrays: dict[str, Any] = {
        f"{name}.{part}": getattr(trie, part) for name, trie in tries.items() for part in ("words", "parents")
    }
    arrays |= {f"table.{part}": getattr(system.table, part) for part in ("first", "targets", "scores")}
    arrays |= {f"language.{part}": getattr(system.language, part) for part in ("log_probs", "log_backoffs", "suffixes")}
    rest = {
        "format": _FORMAT,
        "source_words": system.source_words,
        "target_words": system.target_words,
        "spelling": system.writing.spelling,
        "after": sorted(system.writing.after),
        "before": sorted(system.writing.before),
        "weights": system.weights,
        "config": system.config,
        "levels": {name: trie.levels for name, trie in tries.items()},
    }
    arrays["rest"] = np.frombuffer(json.dumps(rest, ensure_ascii=False).encode("utf-8"), dtype=np.uint8)

    def write(file: Path) -> None:
        with file.open("wb") as stream:
            np.savez(stream, **arrays)

    write_atomically(path, write)


def load(path: Path) -> Parts:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            arrays = dict(stored.items())
        rest = json.loads(arrays["rest"].tobytes())
        if rest["format"] != _FORMAT or len(rest["weights"]) != len(FEATURES):
            raise ValueError(rest["format"])
        tries = {
            name: NgramTrie(arrays[f"{name}.words"], arrays[f"{name}.parents"], tuple(rest["levels"][name]))
            for name in _TRIES
        }
        return Parts(
            tuple(rest["source_words"]),
            tuple(rest["target_words"]),
            PhraseTable(
                tries["source"], tries["target"], *(arrays[f"table.{part}"] for part in ("first", "targets", "scores"))
            ),
            KneserNey(
                tries["language"], *(arrays[f"language.{part}"] for part in ("log_probs", "log_backoffs", "suffixes"))
            ),
            Writing(rest["spelling"], frozenset(rest["after"]), frozenset(rest["before"])),
            tuple(map(float, rest["weights"])),
            rest["config"],
        )
    except FileNotFoundError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        raise InputError(f"{path} is not a phrase-based translator; write one with PhraseBased.save") from None
