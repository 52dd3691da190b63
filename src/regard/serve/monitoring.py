"""The access log, and the metrics for Prometheus.

The log holds the method, the path as the application declares it (`/v2/document/{id}`), never as it was sent, the
status, the time, counts and the request's id. Texts, file names, queries, keys and addresses are not in it; only
texts are if the server's `log_text` is on, as JSON, so that no text can look like a line of its own.

With several workers each counts in files of a folder that they share (`PROMETHEUS_MULTIPROC_DIR`, which must be set
before this module is imported), and any of them answers for all. Replicas are separate targets of Prometheus. Labels
have few values, none of them from a request: endpoints as declared, statuses, names of models.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.process_collector import ProcessCollector
from starlette.requests import HTTPConnection
from starlette.types import Scope

if TYPE_CHECKING:
    from regard.serve.batcher import BatchDone
    from regard.translation.translation import Translation

# ── the access log ────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── metrics ───────────────────────────────────────────────────────────────────────────────────────────────────────────


__all__ = ["CONTENT_TYPE_LATEST", "count_request", "exposition"]

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
STATM, PAGE = Path("/proc/self/statm"), 4096 if os.name != "posix" else os.sysconf("SC_PAGE_SIZE")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

registry = CollectorRegistry()
if not os.environ.get(FOLDER):
    ProcessCollector(registry=registry)  # CPU time, open files and more of this process

REQUESTS = Counter(
    "regard_requests", "Requests that were answered.", ("method", "endpoint", "status"), registry=registry
)
REQUEST_SECONDS = Histogram(
    "regard_request_seconds",
    "Time from the request to the end of its answer.",
    ("endpoint",),
    buckets=SECONDS,
    registry=registry,
)
CHARACTERS = Counter("regard_characters", "Characters of source text.", ("model",), registry=registry)
SENTENCES = Counter("regard_sentences", "Sentences that were translated.", ("model",), registry=registry)
DOUBTFUL = Counter(
    "regard_doubtful_sentences", "Translated sentences that are doubtful.", ("model",), registry=registry
)
BATCH = Histogram(
    "regard_batch_sentences",
    "Sentences that were translated together.",
    ("model",),
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
    registry=registry,
)
WAIT_SECONDS = Histogram(
    "regard_wait_seconds",
    "Time that a batch's oldest request has waited.",
    ("model",),
    buckets=SECONDS,
    registry=registry,
)
QUEUE = Gauge(
    "regard_requests_in_translation",
    "Requests whose sentences wait or are translated now.",
    ("model",),
    multiprocess_mode="livesum",
    registry=registry,
)
MODELS = Gauge(
    "regard_models_loaded", "Models in memory, of all workers.", multiprocess_mode="livesum", registry=registry
)
MEMORY = Gauge(
    "regard_memory_bytes",
    "Resident memory, of all workers; pages that they share are counted for each.",
    multiprocess_mode="livesum",
    registry=registry,
)
REFUSED = Counter(
    "regard_refused",
    "Requests that were refused or cut off: requests, characters (limits of a client), size, slow (the request did not "
    "arrive), busy (the queue is full), deadline, gone (the client left).",
    ("reason",),
    registry=registry,
)
OF_STATUS = {413: "size", 431: "size", 0: "gone", 499: "gone"}  # where nobody has said more


def count_batch(model: str, batch: BatchDone) -> None:
    """Count a batch; the pool calls it."""
    BATCH.labels(model).observe(batch.units)
    WAIT_SECONDS.labels(model).observe(batch.waited)


def count_translation(models: Sequence[str], translation: Translation) -> None:
    """Count a translation; the service calls it. Where there were several models, one after another, all are named."""
    name = "+".join(models) or "none"
    CHARACTERS.labels(name).inc(len(translation.source))
    SENTENCES.labels(name).inc(len(translation.sentences))
    DOUBTFUL.labels(name).inc(len(translation.doubtful))


def count_request(scope: Scope, notes: RequestNotes, status: int, seconds: float) -> None:
    """Count a request that has been answered; the guard calls it."""
    endpoint = path_template(scope)
    method = scope["method"] if scope["method"] in METHODS else "other"
    REQUESTS.labels(method, endpoint, str(status or 499)).inc()
    REQUEST_SECONDS.labels(endpoint).observe(seconds)
    MEMORY.set(resident_bytes())
    if reason := notes.refused or OF_STATUS.get(status):
        REFUSED.labels(reason).inc()


def resident_bytes() -> int:
    """How much memory this process has; 0 where the system does not say it in Linux's way."""
    try:
        return int(STATM.read_bytes().split()[1]) * PAGE
    except OSError:
        return 0


def exposition() -> bytes:
    """All measurements as Prometheus reads them."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return generate_latest(registry)
    forget_dead_workers(Path(folder))
    together = CollectorRegistry()
    MultiProcessCollector(together, path=folder)  # type: ignore[no-untyped-call]
    return generate_latest(together)


def forget_dead_workers(folder: Path) -> None:
    """Leave the present values of workers that are gone out of the sums; what they have counted stays."""
    pids = {int(found[1]) for path in folder.glob("gauge_live*.db") if (found := re.search(r"_(\d+)\.db$", path.name))}
    for pid in pids - {os.getpid()}:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            with contextlib.suppress(OSError):  # another worker did it at the same moment
                mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]
        except OSError:  # another user's: the number was given out again
            pass
