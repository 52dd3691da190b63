"""Data sets that `regard fetch` knows (`sources.toml`): published files, and how they become train, dev and test.

Nothing is fetched here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from regard.config import nearest
from regard.errors import InputError


@dataclass(frozen=True)
class Download:
    """One published file."""

    url: str
    checksum: str | None  # "sha256:…" or "md5:…"

    @property
    def name(self) -> str:
        """The file's name here and on a mirror."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class LinesFile:
    """A file of lines: a download, or a member of one. The lines of .sgm files are their <seg> elements."""

    download: str
    member: str = ""


@dataclass(frozen=True)
class PairTable:
    """A table of pairs (first two columns of tab-separated lines) that is split by connected sentences."""

    lines: LinesFile
    languages: tuple[str, str]
    dev: int
    test: int
    seed: int = 1


@dataclass(frozen=True)
class ParallelFiles:
    """Two files of lines that were published without a split. Pairs with an empty side are left out; the last ones are
    held out, dev before test: in a chronological corpus these are the latest."""

    sides: tuple[LinesFile, LinesFile]
    languages: tuple[str, str]
    dev: int
    test: int


@dataclass(frozen=True)
class DataSet:
    about: str
    size: str  # of all downloads, as text
    licence: str
    citation: str
    downloads: tuple[Download, ...]
    files: dict[str, tuple[LinesFile, ...]] = field(default_factory=dict)  # "train.en" → its lines, concatenated
    pairs: PairTable | None = None  # instead of files
    parallel: ParallelFiles | None = None  # instead of files

    @property
    def names(self) -> list[str]:
        """The names of the files that are made from it."""
        split = self.pairs or self.parallel
        if split is None:
            return list(self.files)
        return [f"{part}.{language}" for part in ("train", "dev", "test") for language in split.languages]


def _lines_file(entry: str | list[str]) -> LinesFile:
    return LinesFile(entry) if isinstance(entry, str) else LinesFile(*entry)


def _data_set(table: Mapping[str, Any]) -> DataSet:
    made = dict(table)
    made["downloads"] = tuple(Download(url, checksum or None) for url, checksum in table["downloads"].items())
    made["files"] = {name: tuple(map(_lines_file, parts)) for name, parts in table.get("files", {}).items()}
    if pairs := table.get("pairs"):
        split = {"lines": _lines_file(pairs["lines"]), "languages": tuple(pairs["languages"])}
        made["pairs"] = PairTable(**pairs | split)
    if parallel := table.get("parallel"):
        first, second = map(_lines_file, parallel["sides"])
        made["parallel"] = ParallelFiles(
            **parallel | {"sides": (first, second), "languages": tuple(parallel["languages"])}
        )
    return DataSet(**made)


_TABLES = tomllib.loads(files("regard.data").joinpath("sources.toml").read_text(encoding="utf-8"))
DATA_SETS = {name: _data_set(table) for name, table in _TABLES.items()}


def find_data_set(name: str) -> DataSet:
    if name not in DATA_SETS:
        raise InputError(f'no data set "{name}"; {nearest(name, DATA_SETS)} (regard fetch lists them)')
    return DATA_SETS[name]
