"""Keys and limits as the clients of each interface are told of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from regard.serve.app import create_app
from regard.serve.settings import ServeConfig

TEXT = "The cat is on the mat."
LIBRE = {"q": TEXT, "source": "en", "target": "fr"}
DEEPL = {"text": [TEXT], "target_lang": "FR"}


def answer(client: TestClient, path: str, body: dict[str, object], key: str = "") -> tuple[int, dict[str, str], str]:
    headers = {"Authorization": f"DeepL-Auth-Key {key}"} if key else {}
    found = client.post(path, json=body, headers=headers)
    return found.status_code, found.json(), found.headers.get("retry-after", "")


@contextmanager
def serving(**settings: Any) -> Iterator[TestClient]:
    app = create_app(ServeConfig(models=("en-fr-classic",), **settings))
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        yield client


def test_a_wrong_key() -> None:
    with serving(keys=True) as client:
        status, said, _ = answer(client, "/translate", {**LIBRE, "api_key": "wrong"})
        assert (status, said) == (403, {"error": "Invalid API key"})
        status, said, _ = answer(client, "/v2/translate", DEEPL, "wrong")
        assert (status, said) == (403, {"message": "Invalid API key"})


def test_used_up_characters() -> None:
    with serving(quota=10) as client:
        status, said, again = answer(client, "/translate", LIBRE)
        assert (status, said["error"].startswith("Slowdown: "), again != "") == (429, True, True)
        status, said, again = answer(client, "/v2/translate", DEEPL)
        assert (status, said["message"], again != "") == (456, "Quota Exceeded", True)


def test_what_takes_too_long() -> None:
    with serving(timeout=1e-6) as client:
        assert answer(client, "/translate", LIBRE)[0] == 503
        status, said, again = answer(client, "/v2/translate", DEEPL)
        assert (status, "longer than" in said["message"], again != "") == (503, True, True)
