"""The access log, and the metrics for Prometheus.

The log contains the method, the path as the application declares it (`/v2/document/{id}`), not as it was sent, the
status, the time, counts and the request's id. It never contains file names, queries, keys or addresses; it contains
texts only if the server's `log_text` is on, as JSON, so that no text can imitate a log line.

With several workers each counts in files of a folder that they share (`PROMETHEUS_MULTIPROC_DIR`, which must be set
before this module is imported), and any of them reports for all. Replicas are separate targets of Prometheus. Labels
have few values, none of them from a request: endpoints as declared, statuses, names of models.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
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


MAX_LOGGED_TEXT = 2_000  # maximum characters of a text in the log

log = logging.getLogger("regard.serve.access")


@dataclass
class RequestRecord:
    """The data of a request for the log and the metrics, filled in while it is handled."""

    id: str = ""
    characters: int = 0
    charged: int = 0  # characters that were counted against the client's limit
    refused: str = ""  # the limit that was exceeded, for the metrics
    texts: list[str] = field(default_factory=list)  # only if the log may contain them
    body_bytes: float = math.inf  # the maximum of its body
    body_hint: str = ""  # under which condition


def record_of(request: HTTPConnection) -> RequestRecord:
    """The record of a request; a new one where the application runs without `HttpGuard`."""
    record = request.scope.setdefault("state", {}).setdefault("record", RequestRecord())
    assert isinstance(record, RequestRecord)
    return record


def path_template(scope: Scope) -> str:
    """The path as the application declares it; "-" for an unknown path."""
    return str(getattr(scope.get("route"), "path", None) or "-")


def access_line(scope: Scope, record: RequestRecord, status: int, seconds: float) -> str:
    """
    >>> access_line({"method": "POST"}, RequestRecord("a1", 12, texts=["Hello\\nworld"]), 200, 0.0123)
    'POST - 200 12 ms 12 characters id=a1 text="Hello\\\\nworld"'
    """
    method = scope["method"] if scope["method"].isalpha() and len(scope["method"]) < 10 else "?"
    line = f"{method} {path_template(scope)} {status or 'cut off'} {1000 * seconds:.0f} ms"
    line += f" {record.characters} characters id={record.id}"
    texts: list[Any] = [text[:MAX_LOGGED_TEXT] for text in record.texts]
    return line + "".join(f" text={json.dumps(text)}" for text in texts)


def log_request(scope: Scope, record: RequestRecord, status: int, seconds: float) -> None:
    log.info("%s", access_line(scope, record, status, seconds))


# ── metrics ───────────────────────────────────────────────────────────────────────────────────────────────────────────


__all__ = ["CONTENT_TYPE_LATEST", "count_request", "exposition"]

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
STATM, PAGE = Path("/proc/self/statm"), 4096 if os.name != "posix" else os.sysconf("SC_PAGE_SIZE")
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

registry = CollectorRegistry()
if not os.environ.get(FOLDER):
    ProcessCollector(registry=registry)  # CPU time, open files and more of this process

counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry, multiprocess_mode="livesum")
histogram = partial(Histogram, registry=registry)

REQUESTS = counter("regard_requests", "Requests that were answered.", ("method", "endpoint", "status"))
REQUEST_SECONDS = histogram(
    "regard_request_seconds", "Time from the request to the end of its answer.", ("endpoint",), buckets=SECONDS
)
CHARACTERS = counter("regard_characters", "Characters of source text.", ("model",))
SENTENCES = counter("regard_sentences", "Sentences that were translated.", ("model",))
DOUBTFUL = counter("regard_doubtful_sentences", "Translated sentences that are doubtful.", ("model",))
BATCH = histogram("regard_batch_sentences", "Sentences that were translated together.", ("model",), buckets=SIZES)
WAIT_SECONDS = histogram(
    "regard_wait_seconds", "Time that a batch's oldest request has waited.", ("model",), buckets=SECONDS
)
QUEUE = gauge("regard_requests_in_translation", "Requests whose sentences wait or are translated now.", ("model",))
MODELS = gauge("regard_models_loaded", "Models in memory, of all workers.")
MEMORY = gauge("regard_memory_bytes", "Resident memory, of all workers; pages that they share are counted for each.")
REFUSED = counter(
    "regard_refused",
    "Requests that were refused or cut off: requests, characters (limits of a client), size, slow (the request did not "
    "arrive), busy (the queue is full), deadline, gone (the client left).",
    ("reason",),
)
REASONS = {413: "size", 431: "size", 0: "gone", 499: "gone"}  # used if the record has no reason


def count_batch(model: str, batch: BatchDone) -> None:
    """Count a batch of translated sentences."""
    BATCH.labels(model).observe(batch.units)
    WAIT_SECONDS.labels(model).observe(batch.waited)


def count_translation(models: Sequence[str], translation: Translation) -> None:
    """Count a translation. The label of a chain of models contains all their names."""
    name = "+".join(models) or "none"
    CHARACTERS.labels(name).inc(len(translation.source))
    SENTENCES.labels(name).inc(len(translation.sentences))
    DOUBTFUL.labels(name).inc(len(translation.doubtful))


def count_request(scope: Scope, record: RequestRecord, status: int, seconds: float) -> None:
    """Count a request that has been answered."""
    endpoint = path_template(scope)
    method = scope["method"] if scope["method"] in METHODS else "other"
    REQUESTS.labels(method, endpoint, str(status or 499)).inc()
    REQUEST_SECONDS.labels(endpoint).observe(seconds)
    MEMORY.set(resident_bytes())
    if reason := record.refused or REASONS.get(status):
        REFUSED.labels(reason).inc()


def resident_bytes() -> int:
    """The resident memory of this process; 0 on systems without /proc."""
    try:
        return int(STATM.read_bytes().split()[1]) * PAGE
    except OSError:
        return 0


def exposition() -> bytes:
    """All metrics in Prometheus' text format."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return generate_latest(registry)
    remove_dead_workers(Path(folder))
    merged = CollectorRegistry()
    MultiProcessCollector(merged, path=folder)  # type: ignore[no-untyped-call]
    return generate_latest(merged)


def remove_dead_workers(folder: Path) -> None:
    """Remove the gauges of workers that have ended; their counters stay."""
    pids = {int(found[1]) for path in folder.glob("gauge_live*.db") if (found := re.search(r"_(\d+)\.db$", path.name))}
    for pid in pids - {os.getpid()}:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            with contextlib.suppress(OSError):  # another worker has removed it already
                mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]
        except OSError:  # a process of another user: the pid was reused
            pass
