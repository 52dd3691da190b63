"""Metrics: what Prometheus' own reader finds in them, also of several processes together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from regard.serve import monitoring
from regard.serve.monitoring import RequestRecord

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(text: str) -> Samples:
    families = text_string_to_metric_families(text)
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}


def test_requests_are_counted_by_their_declared_path() -> None:
    labels = (("endpoint", "/v2/document/{id}"), ("method", "POST"), ("status", "413"))
    before = samples(monitoring.exposition().decode())
    scope = {"method": "POST", "path": "/v2/document/SECRET", "route": SimpleNamespace(path="/v2/document/{id}")}
    monitoring.count_request(scope, RequestRecord(), 413, 0.2)
    monitoring.count_request({"method": "SECRET", "path": "/SECRET"}, RequestRecord(refused="requests"), 429, 0.01)
    after = samples(monitoring.exposition().decode())

    def more(name: str, labels: tuple[tuple[str, str], ...]) -> float:
        return after.get((name, labels), 0) - before.get((name, labels), 0)

    assert more("regard_requests_total", labels) == 1
    assert more("regard_request_seconds_count", (("endpoint", "/v2/document/{id}"),)) == 1
    assert more("regard_refused_total", (("reason", "size"),)) == 1
    assert more("regard_refused_total", (("reason", "requests"),)) == 1
    assert more("regard_requests_total", (("endpoint", "-"), ("method", "other"), ("status", "429"))) == 1
    assert "SECRET" not in monitoring.exposition().decode()
    memory = after["regard_memory_bytes", ()]
    assert memory in (0, pytest.approx(after.get(("process_resident_memory_bytes", ()), 0), rel=0.5))


def test_workers_are_added_up_and_the_queue_of_a_dead_one_is_not(tmp_path: Path) -> None:
    """A worker that has ended, and a second that is asked."""
    program = (
        "from regard.serve import monitoring; monitoring.SENTENCES.labels('en-fr').inc(5); "
        "monitoring.QUEUE.labels('en-fr').set(3); print(monitoring.exposition().decode())"
    )
    environment = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    for number in (1, 2):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        found = samples(done.stdout)
        assert found["regard_sentences_total", (("model", "en-fr"),)] == 5 * number
        assert found["regard_requests_in_translation", (("model", "en-fr"),)] == 3
