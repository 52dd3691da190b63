"""The application with its guard, keys and limits, as a client sees them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from regard.serve.app import create_app
from regard.serve.http.guard import HEADERS
from regard.serve.settings import ServeConfig
from regard.serve.state.keys import ApiKeys, KeyLimits
from regard.serve.state.store import FILE, Store

MODEL = "en-fr-classic"
CAT = {"q": "cat", "source": "en", "target": "fr"}
NONE = {**CAT, "target": "zz"}  # is let in, and then refused with 400 before a model has to work


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    config = ServeConfig(models=(MODEL,), state=str(folder), keys=True, body=100_000, characters=2_000, log_text=False)
    with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as made:
        yield made


@pytest.fixture(scope="module")
def keys(folder: Path) -> Iterator[ApiKeys]:
    """As another process has them, `regard serve keys add` say."""
    with Store(folder) as store:
        yield ApiKeys(store)


@pytest.fixture(scope="module")
def secret(keys: ApiKeys) -> str:
    return keys.add("hostile")[0]


def test_a_key_is_asked_for_and_may_come_in_several_ways(client: TestClient, keys: ApiKeys) -> None:
    refused = client.post("/translate", json=CAT)
    assert (refused.status_code, set(refused.json())) == (403, {"error"})
    assert client.post("/translate", json={**CAT, "api_key": "wrong"}).json() == {"error": "Invalid API key"}
    assert client.get("/languages").status_code == 200
    assert client.get("/health").status_code == 200
    secret, _ = keys.add("alice")
    answers = [
        client.post("/translate", json={**CAT, "api_key": secret}),
        client.post("/translate", data={**NONE, "api_key": secret}),
        client.post("/translate", json=NONE, headers={"authorization": f"Bearer {secret}"}),
        client.post(
            "/api/translate",
            json={"text": "cat", "target": "zz"},
            headers={"authorization": f"DeepL-Auth-Key {secret}"},
        ),
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 400, 400]
    keys.remove("alice")
    assert client.post("/translate", json={**CAT, "api_key": secret}).status_code == 403


def test_requests_and_characters_have_limits(client: TestClient, keys: ApiKeys) -> None:
    secret, _ = keys.add("few", KeyLimits(per_minute=2))
    answers = [client.post("/translate", json={**NONE, "api_key": secret}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [400, 400, 429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    secret, _ = keys.add("little", KeyLimits(characters=2 * len(CAT["q"])))
    wrong = client.post("/translate", json={**CAT, "target": "zz", "api_key": secret})
    assert wrong.status_code == 400  # and nothing was counted, because nothing was translated
    answers = [client.post("/translate", json={**CAT, "api_key": secret}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "characters a month" in answers[-1].json()["error"]


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"[" * 50_000, "application/json", 400),
        (b'{"q": "\xff"}', "application/json", 400),
        (b'{"q": "\\ud800", "source": "en", "target": "fr"}', "application/json", 400),
        (b'{"q": "a", "q": "b"}', "application/json", 400),
        (b'{"q": NaN}', "application/json", 400),
        (b"q=%ff", "application/x-www-form-urlencoded", 400),
        (b"a=1&" * 2_000, "application/x-www-form-urlencoded", 400),
        (b"x" * 100_001, "application/json", 413),
        (b"", "multipart/form-data", 400),
    ],
)
def test_hostile_bodies_are_one_line(client: TestClient, secret: str, body: bytes, kind: str, status: int) -> None:
    for path in ("/translate", "/api/translate"):
        headers = {"content-type": kind, "authorization": f"Bearer {secret}"}
        answer = client.post(path, content=body, headers=headers)
        assert answer.status_code == status, answer.text
        assert set(answer.json()) == {"error"}


def test_every_answer_of_the_application_is_guarded(client: TestClient) -> None:
    for answer in (client.get("/health"), client.get("/nothing"), client.post("/translate", json=CAT)):
        policy = re.sub(
            r" 'sha256-[^']+'", "", answer.headers["content-security-policy"]
        )  # of what is inline in the page
        assert policy == HEADERS["content-security-policy"]
        assert answer.headers["x-request-id"]
    assert client.get("/health", headers={"host": "evil.example"}).status_code == 400
    assert client.post("/translate", json=CAT, headers={"origin": "http://evil.example"}).status_code == 403


def test_the_metrics_count_what_was_asked(client: TestClient, keys: ApiKeys) -> None:
    client.get("/health")
    secret, _ = keys.add("counted")
    assert client.post("/translate", json={**CAT, "api_key": secret}).status_code == 200
    text = client.get("/metrics").text
    assert 'regard_requests_total{endpoint="/health",method="GET",status="200"}' in text
    assert f'regard_sentences_total{{model="{MODEL}"}}' in text
    assert "regard_models_loaded 1.0" in text


def test_replicas_share_what_they_remember(client: TestClient, keys: ApiKeys, folder: Path) -> None:
    """A second server on the same folder, as behind a load balancer that sends each request to either."""
    config = ServeConfig(models=(MODEL,), state=str(folder), keys=True)
    secret, key = keys.add("both", KeyLimits(per_minute=3))
    with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as other:
        asked = {"q": "x", "source": "en", "target": "zz", "api_key": secret}
        turns = [client, other, client, other, client]
        assert [turn.post("/translate", json=asked).status_code for turn in turns] == [400, 400, 400, 429, 429]
        one, two = (app.app.state.services.state for app in (client, other))  # type: ignore[attr-defined]
        made = one.glossaries.create(key.owner, "pets", "en", "fr", {"cat": "chat"})
        assert two.glossaries.get(key.owner, made.id) == made
        job, document_key = one.documents.submit(key.owner, "a.txt", b"hello", {})
        taken = two.documents.take("a worker of the other")
        assert two.documents.finish(taken, "a worker of the other", b"bonjour", 5)
        done = one.documents.get(job.id, document_key, key.owner)
        assert one.documents.result(done) == b"bonjour"
        keys.remove("both")
        assert [turn.post("/translate", json=asked).status_code for turn in (client, other)] == [403, 403]


def test_a_store_that_fails_is_said_without_naming_its_folder(client: TestClient, folder: Path) -> None:
    """Something else holds the store for good, as a full disk or a lost mount would."""
    services = client.app.state.services  # type: ignore[attr-defined]
    store, services.state.store.path = services.state.store.path, folder / "missing" / FILE
    services.state.store.close()
    services.state.store._closed = False
    try:
        answer = client.post("/translate", json={**CAT, "api_key": "any"})
    finally:
        services.state.store.path = store
    assert (answer.status_code, answer.json()) == (
        503,
        {"error": "the server cannot keep its state now; try again"},
    )
    assert answer.headers["retry-after"] == "10"
    assert client.post("/translate", json={**CAT, "api_key": "any"}).status_code == 403  # it is there again
    with sqlite3.connect(folder / FILE) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
