"""A server that translates with CTranslate2 works without PyTorch, and says what it cannot do."""

from __future__ import annotations

import os
import subprocess
import sys

from support import HIDE_TORCH

SERVE = f"""{HIDE_TORCH}
from starlette.testclient import TestClient
from regard.serve.app import create_app
from regard.serve.settings import ServeConfig

config = ServeConfig(models=("en-fr", "en-fr-rnn"))
with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as client:
    for path, body in (
        ("/translate", {{"q": "<b>12</b> houses", "source": "en", "target": "fr", "format": "html"}}),
        ("/v2/translate", {{"text": ["I see him."], "target_lang": "FR"}}),
        ("/api/translate", {{"text": "Who is he?", "model": "en-fr"}}),
    ):
        assert client.post(path, json=body).status_code == 200, path
    refused = client.post("/api/translate", json={{"text": "Who is he?", "model": "en-fr-rnn"}})
    assert refused.status_code == 501
    assert refused.json()["error"]["message"].startswith("en-fr-rnn has the architecture rnn")
    assert client.get("/api/lessons").json()["can"] == dict.fromkeys(("line", "learn", "progress", "live"), False)
    for path in ("/", "/api/models", "/api/lessons/2", "/spec", "/metrics"):
        assert client.get(path).status_code == 200, path
    assert client.get("/api/models").json()["explains"] is False
    pair = {{"text": "Who is he?", "translation": "Qui est-il ?"}}
    words = client.post("/api/words", json=pair).json()["words"]
    assert [word["text"] for word in words] == ["Qui", "est-il", "?"]
    assert all(word["links"] and word["confidence"] for word in words)
    places = [client.post("/api/alternatives", json=pair | {{"position": place}}).json() for place in (0, 1)]
    assert [place["word"] for place in places] == ["Qui", "est-il"]
    assert any(place["alternatives"] for place in places)
    for path, more in (
        ("/api/words", {{"share": True}}),
        ("/api/attention", {{}}),
        ("/api/lattice", {{}}),
        ("/api/anatomy", {{}}),
        ("/api/anatomy/part", {{"part": "encoder.1"}}),
        ("/api/score", {{}}),
        ("/api/positions", {{}}),
    ):
        refused = client.post(path, json=pair | more)
        assert refused.status_code == 501, path
        assert refused.json()["error"]["message"].endswith("pip install 'regard[torch]'"), path
"""


def test_a_server_translates_without_torch_and_says_what_needs_it() -> None:
    env = os.environ | {"REGARD_ENGINE": "auto"}
    done = subprocess.run([sys.executable, "-c", SERVE], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
