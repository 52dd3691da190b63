"""Translations suggested by users, stored for the operator of the server. They do not change any translation.

Their size and number are limited, and further ones are refused: a newer suggestion never replaces an older one, so that
no client can remove those of others. The same suggestion of the same owner is stored once.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.errors import InputError
from regard.serve.state.store import Store

LONGEST = 5_000  # maximum characters of either side
MOST = 20_000
MOST_OF_ONE = 2_000


@dataclass(frozen=True)
class Suggestion:
    """A text and the translation that a user prefers."""

    source: str
    target: str
    text: str
    better: str
    created: float


class Suggestions:
    """The suggestions of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, owner: str, source: str, target: str, text: str, better: str) -> None:
        for name, given in (("the text", text), ("the suggestion", better)):
            if not given.strip() or len(given) > LONGEST:
                raise InputError(f"{name} must have 1 to {LONGEST:,} characters, but has {len(given):,}")
        with self.store.writing() as connection:
            count, own = connection.execute(
                "SELECT count(*), coalesce(sum(owner = ?), 0) FROM suggestions", (owner,)
            ).fetchone()
            if count >= MOST or own >= MOST_OF_ONE:
                raise InputError("there are too many suggestions already; no more are taken")
            connection.execute(
                "INSERT INTO suggestions (owner, source, target, text, better, created) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (owner, source, target, text, better, self.store.now()),
            )

    def all(self) -> list[Suggestion]:
        """All suggestions, oldest first."""
        with self.store.reading() as connection:
            rows = connection.execute("SELECT source, target, text, better, created FROM suggestions ORDER BY id")
            return [Suggestion(*row) for row in rows]
