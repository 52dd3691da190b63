"""API keys and their limits. Only a hash of each key is stored.

A key is 256 random bits. Its hash is plain SHA-256, without a salt and without the many rounds that passwords need:
those slow down guessing, because people choose few and similar passwords. 256 random bits cannot be guessed, and no two
keys are equal. A fast hash lets every request be checked quickly, and the store finds a key by its hash without
comparing secrets one by one.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import sqlite3
from dataclasses import dataclass
from typing import Literal

from regard.errors import InputError
from regard.serve.state.store import Store

PREFIX = "regard_"  # identifies a key to people and to programs that search for leaked secrets
NAME = re.compile(r"[\w.@+-]{1,64}")
MOST_KEYS = 100_000

Period = Literal["day", "month"]


@dataclass(frozen=True)
class KeyLimits:
    """The limits of a key; None means the limit in the server's settings."""

    per_minute: int | None = None  # requests
    characters: int | None = None  # characters of source text per period
    period: Period = "month"  # calendar period, UTC


@dataclass(frozen=True)
class ApiKey:
    """A key as the store knows it, without the key itself."""

    id: int
    name: str
    created: float
    revoked: float | None
    limits: KeyLimits

    @property
    def owner(self) -> str:
        """The name under which its limits, glossaries and documents are stored."""
        return f"key:{self.id}"


def hashed(secret: str) -> bytes:
    """
    >>> hashed("regard_a").hex()[:16]
    '031464dd8e2bb590'
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class ApiKeys:
    """The API keys of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, name: str, limits: KeyLimits | None = None) -> tuple[str, ApiKey]:
        """Create a key; return its secret, which is never shown again, and the stored key."""
        if not NAME.fullmatch(name):
            raise InputError(f'name must be 1 to 64 letters, digits and . _ @ + -, but is "{name[:80]}"')
        limits = limits or KeyLimits()
        secret = PREFIX + secrets.token_urlsafe(32)
        with self.store.writing() as connection:
            if connection.execute("SELECT 1 FROM keys WHERE name = ? AND revoked IS NULL", (name,)).fetchone():
                raise InputError(f'there is a key named "{name}" already; remove it first, or choose another name')
            if connection.execute("SELECT count(*) FROM keys").fetchone()[0] >= MOST_KEYS:
                raise InputError(f"there are {MOST_KEYS:,} keys, which is the most a store holds")
            row = connection.execute(
                "INSERT INTO keys (name, hash, created, per_minute, characters, period) VALUES (?, ?, ?, ?, ?, ?) "
                "RETURNING *",
                (name, hashed(secret), self.store.now(), limits.per_minute, limits.characters, limits.period),
            ).fetchone()
        return secret, _key(row)

    def find(self, secret: str) -> ApiKey | None:
        """The key of a secret; None if it is unknown or was removed. A removed key is invalid at once, in all workers,
        because nothing is cached."""
        with self.store.reading() as connection:
            row = connection.execute(
                "SELECT * FROM keys WHERE hash = ? AND revoked IS NULL", (hashed(secret),)
            ).fetchone()
        return _key(row) if row else None

    def remove(self, name: str) -> ApiKey:
        """Revoke a key and delete its glossaries and documents. Its row remains, so that
        `all()` shows when it was removed."""
        with self.store.writing() as connection:
            row = connection.execute(
                "UPDATE keys SET revoked = ? WHERE name = ? AND revoked IS NULL RETURNING *", (self.store.now(), name)
            ).fetchone()
            if row is None:
                raise InputError(f'there is no key named "{name[:80]}"; known: {_names(connection)}')
            key = _key(row)
            connection.execute("DELETE FROM glossaries WHERE owner = ?", (key.owner,))
            connection.execute("UPDATE documents SET expires = 0 WHERE owner = ?", (key.owner,))  # files: see clean()
        return key

    def all(self) -> list[ApiKey]:
        """All keys, including removed ones, oldest first."""
        with self.store.reading() as connection:
            return [_key(row) for row in connection.execute("SELECT * FROM keys ORDER BY id")]


def _key(row: sqlite3.Row) -> ApiKey:
    limits = KeyLimits(row["per_minute"], row["characters"], row["period"])
    return ApiKey(row["id"], row["name"], row["created"], row["revoked"], limits)


def _names(connection: sqlite3.Connection) -> str:
    rows = connection.execute("SELECT name FROM keys WHERE revoked IS NULL ORDER BY name LIMIT 20")
    return ", ".join(row["name"] for row in rows) or "none"


def given_key(authorization: str | None) -> str | None:
    """The key in an Authorization header, in DeepL's format or as a bearer token; None without one.

    >>> given_key("DeepL-Auth-Key regard_a"), given_key("Bearer regard_a"), given_key("Basic eDp5"), given_key(None)
    ('regard_a', 'regard_a', None, None)
    """
    scheme, _, secret = (authorization or "").strip().partition(" ")
    return secret.strip() or None if scheme.lower() in ("deepl-auth-key", "bearer") else None
