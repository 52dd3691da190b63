"""Glossaries that clients store on the server, each visible only to its owner. A glossary never changes.

The entries are sent as lines of TSV or CSV, as by DeepL's clients, and stored as TSV. They become a `Glossary`
(`regard.text.glossary`), which checks them and finds them in texts; `|` separates forms of a term, as everywhere in
regard. A few parsed glossaries are cached in memory.
"""

from __future__ import annotations

import csv
import io
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from regard.errors import InputError
from regard.serve.state.store import Store
from regard.text.glossary import Glossary

MOST_GLOSSARIES = 1_000  # maximum per owner
MOST_ENTRIES = 10_000
MOST_CHARACTERS = 1_000_000  # maximum of all entries together
LONGEST_NAME = 200
MAX_PARSED = 16  # maximum glossaries in memory
ABOUT = "id, name, source, target, created, entries"  # the columns of `StoredGlossary`; entries may be megabytes

EntriesFormat = Literal["tsv", "csv"]
Pairs = dict[str, str]


@dataclass(frozen=True)
class StoredGlossary:
    """A glossary; with its entries only if it was searched by `Glossaries.find`."""

    id: str
    name: str
    source: str
    target: str
    created: float
    entries: int
    tsv: str = ""


class Glossaries:
    """The glossaries of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._parse = lru_cache(MAX_PARSED)(lambda tsv: Glossary.of(_pairs(tsv)))

    def create(self, owner: str, name: str, source: str, target: str, pairs: Pairs) -> StoredGlossary:
        """Store the entries, as `read_entries` returns them."""
        name = name.strip()
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError(f"name must be 1 to {LONGEST_NAME} printable characters, but has {len(name):,}")
        made = StoredGlossary(str(uuid.uuid4()), name, source, target, self.store.now(), len(pairs))
        with self.store.writing() as connection:
            count = connection.execute("SELECT count(*) FROM glossaries WHERE owner = ?", (owner,)).fetchone()[0]
            if count >= MOST_GLOSSARIES:
                raise InputError(f"there are {count:,} glossaries, which is the most allowed; delete one first")
            connection.execute(
                "INSERT INTO glossaries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (made.id, owner, made.name, made.source, made.target, made.created, made.entries, _tsv(pairs)),
            )
        return made

    def all(self, owner: str) -> list[StoredGlossary]:
        """The glossaries of an owner, oldest first."""
        with self.store.reading() as connection:
            rows = connection.execute(f"SELECT {ABOUT} FROM glossaries WHERE owner = ? ORDER BY created, id", (owner,))
            return [StoredGlossary(*row) for row in rows]

    def get(self, owner: str, id: str) -> StoredGlossary | None:
        """A glossary of this owner, without its entries; None for an unknown id or another owner's glossary."""
        row = self._row(owner, id, ABOUT)
        return StoredGlossary(*row) if row else None

    def entries(self, owner: str, id: str) -> str | None:
        """The entries of a glossary as TSV; None for an unknown id."""
        row = self._row(owner, id, "tsv")
        return row["tsv"] if row else None

    def find(self, owner: str, ids: Sequence[str]) -> list[StoredGlossary]:
        """The glossaries of this owner with these ids, in their order; unknown ids are left out."""
        marks = ", ".join("?" * len(ids))
        with self.store.reading() as connection:
            query = f"SELECT {ABOUT}, tsv FROM glossaries WHERE owner = ? AND id IN ({marks})"
            rows = connection.execute(query, (owner, *ids))
            return sorted((StoredGlossary(*row) for row in rows), key=lambda found: ids.index(found.id))

    def merge(self, found: Sequence[StoredGlossary]) -> Glossary:
        """The entries of glossaries that `find` has returned; for a term in several of them the first one is used."""
        if len(found) == 1:
            return self._parse(found[0].tsv)
        pairs: Pairs = {}
        for one in found:
            pairs = _pairs(one.tsv) | pairs
        return self._parse(_tsv(pairs))

    def delete(self, owner: str, id: str) -> bool:
        """Delete a glossary; return whether it existed."""
        with self.store.writing() as connection:
            return connection.execute("DELETE FROM glossaries WHERE owner = ? AND id = ?", (owner, id)).rowcount > 0

    def _row(self, owner: str, id: str, columns: str) -> sqlite3.Row | None:
        with self.store.reading() as connection:
            found: sqlite3.Row | None = connection.execute(
                f"SELECT {columns} FROM glossaries WHERE owner = ? AND id = ?", (owner, id)
            ).fetchone()
            return found


def read_entries(text: str, form: EntriesFormat = "tsv") -> Pairs:
    """Parse and check terms and their translations; `InputError` names the line that is wrong.

    >>> read_entries("cat\\tchat\\ncredit card\\tcarte de crédit\\n")
    {'cat': 'chat', 'credit card': 'carte de crédit'}
    >>> read_entries('"Smith, John",M. Smith,en,fr', "csv")
    {'Smith, John': 'M. Smith'}
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"a glossary has at most {MOST_CHARACTERS:,} characters, but this one has {len(text):,}")
    pairs: Pairs = {}
    for number, row in enumerate(
        _csv_rows(text) if form == "csv" else (line.split("\t") for line in text.splitlines()), start=1
    ):
        columns = [column.strip() for column in row]
        if not any(columns):
            continue
        where = f"line {number} of the entries"
        # A CSV file may have the languages in two further columns.
        if len(columns) not in ((2, 4) if form == "csv" else (2,)) or not all(columns[:2]):
            between = "a comma" if form == "csv" else "one tab"
            raise InputError(f"{where} must be a term, {between} and its translation, with nothing empty")
        term, translation = columns[:2]
        if not (term + translation).isprintable():
            raise InputError(f"{where} has a control character")
        if term in pairs:
            raise InputError(f'{where} has the term "{term[:40]}" again')
        pairs[term] = translation
        if len(pairs) > MOST_ENTRIES:
            raise InputError(f"a glossary has at most {MOST_ENTRIES:,} entries")
    if not pairs:
        raise InputError("a glossary needs at least one entry: a term, one tab and its translation")
    Glossary.of(pairs)  # raises if a term cannot be used
    return pairs


def _tsv(pairs: Pairs) -> str:
    return "\n".join(f"{term}\t{translation}" for term, translation in pairs.items())


def _pairs(tsv: str) -> Pairs:
    """The entries of a stored glossary."""
    return dict(line.split("\t") for line in tsv.split("\n"))


def _csv_rows(text: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as problem:
        raise InputError(f"the entries are not CSV: {problem}") from None
