"""Keys and limits as the clients of each interface are told of them."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from regard.serve.app import create_app
from regard.serve.settings import ServeConfig

TEXT = "The cat is on the mat."
LIBRE = {"q": TEXT, "source": "en", "target": "fr"}
DEEPL = {"text": [TEXT], "target_lang": "FR"}


def answer(config: ServeConfig, path: str, body: dict[str, object], key: str = "") -> tuple[int, dict[str, str], str]:
    with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as client:
        headers = {"Authorization": f"DeepL-Auth-Key {key}"} if key else {}
        found = client.post(path, json=body, headers=headers)
        return found.status_code, found.json(), found.headers.get("retry-after", "")


@pytest.fixture(scope="module")
def model() -> tuple[str, ...]:
    return ("en-fr-classic",)


def test_a_wrong_key(model: tuple[str, ...]) -> None:
    config = ServeConfig(models=model, keys=True)
    status, said, _ = answer(config, "/translate", {**LIBRE, "api_key": "wrong"})
    assert (status, said) == (403, {"error": "Invalid API key"})
    status, said, _ = answer(config, "/v2/translate", DEEPL, "wrong")
    assert (status, said) == (403, {"message": "Invalid API key"})


def test_used_up_characters(model: tuple[str, ...]) -> None:
    config = ServeConfig(models=model, quota=10)
    status, said, again = answer(config, "/translate", LIBRE)
    assert (status, said["error"].startswith("Slowdown: "), again != "") == (429, True, True)
    status, said, again = answer(config, "/v2/translate", DEEPL)
    assert (status, said["message"], again != "") == (456, "Quota Exceeded", True)


def test_what_takes_too_long(model: tuple[str, ...]) -> None:
    config = ServeConfig(models=model, timeout=1e-6)
    assert answer(config, "/translate", LIBRE)[0] == 503
    status, said, again = answer(config, "/v2/translate", DEEPL)
    assert (status, "longer than" in said["message"], again != "") == (503, True, True)
