"""Two replicas with one state behind nginx, with the settings under deploy/: any of them may answer any request."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from regard.serve.state.keys import ApiKeys
from regard.serve.state.store import Store
from server_process import ServerProcess, running

nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(nginx is None, reason="nginx is not installed (apt-get install nginx-light)"),
]
SETTINGS = Path(__file__).parents[2] / "deploy" / "nginx.conf"
CAT = {"q": "The cat is black.", "source": "en", "target": "fr"}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def replicas(state: Path) -> Iterator[list[ServerProcess]]:
    with running("--state", state, "--keys") as first, running("--state", state, "--keys") as second:
        yield [first, second]


@pytest.fixture
def proxy(replicas: list[ServerProcess], tmp_path: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    text = SETTINGS.read_text(encoding="utf-8").replace("listen 8080", f"listen 127.0.0.1:{port}")
    for number, replica in enumerate(replicas, start=1):
        text = text.replace(f"replica-{number}:8000", f"127.0.0.1:{replica.port}")
    text = re.sub(r"^pid .*", f"pid {tmp_path}/nginx.pid;", text, flags=re.MULTILINE)
    (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
    assert nginx is not None
    process = subprocess.Popen([nginx, "-c", str(tmp_path / "nginx.conf"), "-g", "daemon off;"])
    replicas[0].wait_until(lambda: ask(port, "GET", "/health")[0] == 200)
    yield port
    process.terminate()
    process.wait(30)


def ask(port: int, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json", "Authorization": f"DeepL-Auth-Key {key}"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_any_replica_answers_and_one_that_is_gone_is_left_out(
    replicas: list[ServerProcess], proxy: int, state: Path
) -> None:
    first, second = replicas
    with Store(state) as store:
        secret, _ = ApiKeys(store).add("alice")
    asked = {**CAT, "api_key": secret}
    for _ in range(20):
        assert ask(proxy, "POST", "/translate", asked) == (200, {"translatedText": "Le chat est noir."})
    assert ask(proxy, "POST", "/translate", CAT)[0] == 403
    assert all(one.metric("regard_sentences_total") > 0 for one in replicas)

    terms = {"name": "a", "source_lang": "en", "target_lang": "fr", "entries": "cat\tminou", "entries_format": "tsv"}
    status, made = ask(first.port, "POST", "/v2/glossaries", terms, secret)
    assert status == 201
    wanted = {
        "text": ["The cat is black."],
        "source_lang": "EN",
        "target_lang": "FR",
        "glossary_id": made["glossary_id"],
    }
    status, found = ask(second.port, "POST", "/v2/translate", wanted, secret)
    assert (status, "minou" in found["translations"][0]["text"]) == (200, True)

    assert first.stop() == 0
    for _ in range(20):
        assert ask(proxy, "POST", "/translate", asked) == (200, {"translatedText": "Le chat est noir."})
