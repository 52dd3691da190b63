"""What is noted of a request while it is handled, for the log and the metrics; and the line of the log.

The log holds the method, the path as the application declares it (`/v2/document/{id}`), never as it was sent, the
status, the time, counts and the request's id. Texts, names of files, queries, keys and addresses are not in it; only
texts are if the server's `log_text` is on, as JSON, so that no text can look like a line of its own.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import Scope

LONGEST_TEXT = 2_000  # characters of a text in the log

log = logging.getLogger("regard.serve.access")


@dataclass
class RequestNotes:
    """Filled in by who handles the request."""

    id: str = ""
    characters: int = 0
    spent: int = 0  # of them, those that were counted for the client's limit
    refused: str = ""  # which limit was met, for the metrics
    texts: list[str] = field(default_factory=list)  # only where the log may hold them


def notes_of(request: HTTPConnection) -> RequestNotes:
    """The notes of a request; new ones where no guard is in front of the application."""
    notes = request.scope.setdefault("state", {}).setdefault("notes", RequestNotes())
    assert isinstance(notes, RequestNotes)
    return notes


def path_template(scope: Scope) -> str:
    """The path as it was declared; "-" for one that nobody declared."""
    return str(getattr(scope.get("route"), "path", None) or "-")


def access_line(scope: Scope, notes: RequestNotes, status: int, seconds: float) -> str:
    """
    >>> access_line({"method": "POST"}, RequestNotes("a1", 12, texts=["Hello\\nworld"]), 200, 0.0123)
    'POST - 200 12 ms 12 characters id=a1 text="Hello\\\\nworld"'
    """
    method = scope["method"] if scope["method"].isalpha() and len(scope["method"]) < 10 else "?"
    line = f"{method} {path_template(scope)} {status or 'cut off'} {1000 * seconds:.0f} ms"
    line += f" {notes.characters} characters id={notes.id}"
    texts: list[Any] = [text[:LONGEST_TEXT] for text in notes.texts]
    return line + "".join(f" text={json.dumps(text)}" for text in texts)


def log_request(scope: Scope, notes: RequestNotes, status: int, seconds: float) -> None:
    log.info("%s", access_line(scope, notes, status, seconds))
