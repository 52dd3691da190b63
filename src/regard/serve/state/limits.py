"""Limits: requests per minute and characters per day or month, for a key or for a client's address.

Requests: the times within the last minute are stored and counted, so that no interval of one minute contains more than
allowed. (A token bucket or counts by calendar minute would allow twice as many around a boundary.) This costs a row of
30 bytes for each request of the last minute. Characters: one count for each calendar period, UTC.

Every decision is one transaction of the store, so that all workers and replicas together respect the limit. If the
system's clock is set back, requests that seem to come from the future count as of now, so nobody waits longer than a
minute.
"""

from __future__ import annotations

import ipaddress
import math
import sqlite3
from datetime import UTC, datetime, timedelta

from regard.serve.state.keys import Period
from regard.serve.state.store import Store

MINUTE = 60.0
KEPT_DAYS = 2  # days for which counts of addresses in past periods are kept, in case the clock was ahead


class Limiter:
    """The limits of a store. Methods that can refuse return the seconds after which to retry; None if allowed."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def request(self, subject: str, per_minute: int) -> int | None:
        """Count one request, unless `per_minute` requests were counted within the last minute."""
        with self.store.writing() as connection:
            now = self.store.now()
            connection.execute("DELETE FROM hits WHERE subject = ? AND at <= ?", (subject, now - MINUTE))
            connection.execute("UPDATE hits SET at = ? WHERE subject = ? AND at > ?", (now, subject, now))
            times = "FROM hits WHERE subject = ?"
            count = connection.execute(f"SELECT count(*) {times}", (subject,)).fetchone()[0]
            if count < per_minute:
                connection.execute("INSERT INTO hits VALUES (?, ?)", (subject, now))
                return None
            # The request that must be a minute old before another is allowed: the oldest, unless the limit was lowered.
            last = connection.execute(
                f"SELECT at {times} ORDER BY at LIMIT 1 OFFSET ?", (subject, count - per_minute)
            ).fetchone()[0]
            return _seconds(last + MINUTE - now)

    def charge(self, subject: str, characters: int, limit: int | None, period: Period = "month") -> int | None:
        """Count characters, unless they would exceed `limit` in the current period; without a limit they are only
        counted. Refused characters are not counted."""
        with self.store.writing() as connection:
            now = self.store.now()
            name, ends = period_of(now, period)
            if limit is not None and _used(connection, subject, name) + characters > limit:
                return _seconds(ends - now)
            connection.execute(
                "INSERT INTO used VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET characters = characters + excluded.characters",
                (subject, name, characters),
            )
            return None

    def refund(self, subject: str, characters: int, period: Period = "month", at: float | None = None) -> None:
        """Subtract characters that were counted for a request that failed, at the time `at`; default: just now."""
        with self.store.writing() as connection:
            name, _ = period_of(self.store.now() if at is None else at, period)
            connection.execute(
                "UPDATE used SET characters = max(0, characters - ?) WHERE subject = ? AND period = ?",
                (characters, subject, name),
            )

    def usage(self, subject: str, period: Period = "month") -> int:
        """The characters counted in the current period."""
        with self.store.reading() as connection:
            return _used(connection, subject, period_of(self.store.now(), period)[0])

    def clean(self) -> None:
        """Delete requests older than a minute, and counts of addresses in past periods. Counts of keys are kept."""
        now = self.store.now()
        past = now - KEPT_DAYS * 86400
        with self.store.writing() as connection:
            connection.execute("DELETE FROM hits WHERE at <= ?", (now - MINUTE,))
            connection.execute("UPDATE hits SET at = ? WHERE at > ?", (now, now))
            connection.execute(
                "DELETE FROM used WHERE subject LIKE 'address:%' AND period < iif(length(period) = 7, ?, ?)",
                (period_of(past, "month")[0], period_of(past, "day")[0]),
            )


def _used(connection: sqlite3.Connection, subject: str, period: str) -> int:
    row = connection.execute(
        "SELECT characters FROM used WHERE subject = ? AND period = ?", (subject, period)
    ).fetchone()
    return row["characters"] if row else 0


def _seconds(wait: float) -> int:
    return max(1, math.ceil(wait))


def period_of(now: float, period: Period) -> tuple[str, float]:
    """The name of the calendar period that contains a time, and the end of the period.

    >>> period_of(0, "month"), period_of(86400 * 365, "day")
    (('1970-01', 2678400.0), ('1971-01-01', 31622400.0))
    """
    moment = datetime.fromtimestamp(now, UTC)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return f"{day:%Y-%m-%d}", (day + timedelta(days=1)).timestamp()
    return f"{day:%Y-%m}", (day.replace(day=1) + timedelta(days=32)).replace(day=1).timestamp()


def address_subject(host: str | None) -> str:
    """The name under which the limits of a client without a key are stored. Only the first 64 bits of an IPv6 address
    count, because a client can choose the rest.

    >>> address_subject("192.0.2.1"), address_subject("2001:db8::1234:5"), address_subject("::ffff:192.0.2.1")
    ('address:192.0.2.1', 'address:2001:db8::', 'address:192.0.2.1')
    >>> address_subject(None), address_subject("testclient")
    ('address:unknown', 'address:unknown')
    """
    try:
        address = ipaddress.ip_address((host or "").partition("%")[0])
    except ValueError:
        return "address:unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return f"address:{address.ipv4_mapped}"
        address = ipaddress.IPv6Address(int(address) >> 64 << 64)
    return f"address:{address}"
