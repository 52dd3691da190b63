"""Watch it learn: one training at a time, in a process that is gone when it is stopped and when the server ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from regard.serve.app import create_app
from regard.serve.settings import ServeConfig
from regard.serve.training_service import MODELS, WatchedRun
from support import is_running, wait_for

MODEL = "en-fr-classic"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> ServeConfig:
    return ServeConfig(models=(MODEL,), course=str(tmp_path_factory.mktemp("course")))


def started(client: TestClient, **body: Any) -> int:
    """Starts a training and returns its process."""
    answer = client.post("/api/training", json=body)
    assert answer.status_code == 200, answer.text
    found: int = client.app.state.services.training.process_id  # type: ignore[attr-defined]
    return found


def newest(client: TestClient) -> Any:
    return client.get("/api/training").json()["runs"][-1]


@pytest.fixture(autouse=True)
def _few_sentences(client: TestClient) -> None:
    client.app.state.services.training.pairs = 1000  # type: ignore[attr-defined]


@pytest.fixture
def process(client: TestClient) -> Iterator[int]:
    yield started(client, model="transformer", seconds=1)
    client.delete("/api/training")


def test_a_training_tells_what_it_learns(client: TestClient, process: int) -> None:
    again = client.post("/api/training", json={"model": "rnn"})
    assert (again.status_code, again.json()["error"]["message"]) == (409, "a model is being trained; stop it first")
    assert wait_for(lambda: newest(client)["state"] == "finished", 120)
    run = newest(client)
    first, last = run["looks"][0], run["looks"][-1]
    assert (run["model"], first["second"], last["second"]) == ("transformer", 0, 1)
    assert run["losses"][0][1] > 0
    assert last["update"] >= 1  # how many it makes depends on the machine
    sizes = len(run["about"]["target"]), len(run["about"]["source"]) + 1
    assert (len(last["weights"]), len(last["weights"][0])) == sizes
    assert all(sum(row) == pytest.approx(1, abs=0.01) for row in last["weights"])
    assert not is_running(process)


def test_a_training_that_is_stopped_leaves_no_process(client: TestClient) -> None:
    process = started(client, model="rnn", seconds=60)
    assert is_running(process)
    assert client.delete("/api/training").json()["runs"][-1]["state"] == "stopped"
    assert not is_running(process)
    assert client.delete("/api/training").status_code == 200  # nothing to stop


def test_the_end_of_the_server_is_the_end_of_the_training(tmp_path: Path) -> None:
    app = create_app(ServeConfig(models=(MODEL,), course=str(tmp_path)))
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        process = started(client)
        assert is_running(process)
    assert not is_running(process)


def test_no_other_server_trains() -> None:
    with TestClient(create_app(ServeConfig(models=(MODEL,))), base_url="http://127.0.0.1:8000") as client:
        for method in ("GET", "POST", "DELETE"):
            answer = client.request(method, "/api/training")
            message = "this server trains no models; start it with: regard course 1"
            assert (answer.status_code, answer.json()["error"]["message"]) == (403, message)


def test_an_unknown_model_is_refused(client: TestClient) -> None:
    answer = client.post("/api/training", json={"model": "bigram"})
    assert answer.status_code == 400
    assert all(name in answer.json()["error"]["message"] for name in MODELS)


def test_events_become_curves() -> None:
    run = WatchedRun(1, "rnn", 60.0)
    for event in (
        {"kind": "begin", "parameters": 3},
        {"kind": "loss", "second": 0.5, "update": 4, "loss": 7.0},
        {"kind": "look", "second": 3.0, "update": 20, "bleu": 1.5},
    ):
        run.hear(event)
    assert (run.state, run.about, run.losses, run.update) == ("running", {"parameters": 3}, [[0.5, 7.0]], 20)
    assert run.looks == [{"second": 3.0, "update": 20, "bleu": 1.5}]
