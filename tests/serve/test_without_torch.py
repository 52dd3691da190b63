"""A server that translates with CTranslate2 does not load PyTorch, which takes as much memory as all of the rest."""

from __future__ import annotations

import subprocess
import sys

SERVE = """
import sys
from starlette.testclient import TestClient
from regard.serve.app import create_app
from regard.serve.settings import ServeConfig

config = ServeConfig(models=("en-fr",), engine="ctranslate2")
with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as client:
    for path, body in (
        ("/translate", {"q": "<b>12</b> houses", "source": "en", "target": "fr", "format": "html"}),
        ("/v2/translate", {"text": ["I see him."], "target_lang": "FR"}),
        ("/api/translate", {"text": "Who is he?", "model": "en-fr"}),
    ):
        assert client.post(path, json=body).status_code == 200, path
    for path in ("/", "/api/models", "/api/lessons", "/spec", "/metrics"):
        assert client.get(path).status_code == 200, path
    print("torch" in sys.modules)
"""


def test_a_server_that_translates_does_without_torch() -> None:
    done = subprocess.run([sys.executable, "-c", SERVE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "False"
