"""Errors of requests: an HTTP status, a message, and the number of seconds after which to retry.

Services and handlers raise them; `api/endpoint.py` formats them for the interface that was called.
"""

from __future__ import annotations

CLIENT_DISCONNECTED = 499  # in the log and the metrics only: no client receives it


class ServeError(Exception):
    """A request that is answered with an error. `field` names the invalid parameter; `missing`: it was not sent.
    `reason` is a word for the metrics if a limit was exceeded."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        field: str | None = None,
        missing: bool = False,
        retry_after: float | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.field, self.missing = status, message, field, missing
        self.retry_after, self.reason = retry_after, reason

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(max(1, round(self.retry_after)))}


class FieldError(ServeError):
    """A missing or invalid parameter."""

    def __init__(self, field: str, message: str, *, missing: bool = False, status: int = 400) -> None:
        super().__init__(status, message, field=field, missing=missing)


def server_busy(why: str, retry_after: float) -> ServeError:
    """An error for a server that is overloaded now."""
    return ServeError(503, f"{why}; try again later", retry_after=retry_after, reason="busy")


def deadline_exceeded(what: str) -> ServeError:
    return ServeError(503, f"the {what} took longer than the server allows", retry_after=10, reason="deadline")


class UnsupportedPairError(ServeError):
    """There is no model for a pair of languages that the server supports."""

    def __init__(self, source: str, target: str, message: str) -> None:
        super().__init__(400, message, field="target")
        self.source, self.target = source, target


class QuotaExceededError(ServeError):
    """The quota of characters of the period is used up. DeepL has its own status for this, 456; elsewhere it is 429."""
