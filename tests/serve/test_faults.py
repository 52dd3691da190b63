"""What happens when something breaks (docs/operations.md has the table): real processes that are killed or starved."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx
import pytest

from regard.bundle import bundled_models
from regard.serve.state.keys import ApiKeys, KeyLimits
from regard.serve.state.store import Store
from server_process import MODEL, SOON, ServerProcess, running

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="looks at processes under /proc"),
]
CAT, BLACK = "The cat is black.", "Le chat est noir."
LONG = "The cat is black. I see the dog near the house. " * 300
PAGE = os.sysconf("SC_PAGE_SIZE")


def in_background(server: ServerProcess, text: str) -> tuple[threading.Thread, list[object]]:
    found: list[object] = []

    def work() -> None:
        try:
            found.append(server.translate(text).status)
        except OSError as problem:
            found.append(problem)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, found


@pytest.mark.parametrize("flags", [[], ["--workers", "2"]], ids=["one process", "workers"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_after_what_it_has_accepted(flags: list[str], number: int) -> None:
    with running(*flags) as server:
        server.translate()
        thread, found = in_background(server, LONG)
        server.wait_until(lambda: server.metric("regard_requests_in_translation") > 0)
        assert server.stop(number) == 0
        thread.join()
        assert found == [200]
        assert not any("Traceback" in line for line in server.lines)
        with pytest.raises(OSError, match="refused"):
            server.ask("/health")


@pytest.mark.parametrize("flags", [[], ["--workers", "2"]], ids=["one process", "workers"])
def test_a_second_signal_ends_it_at_once(flags: list[str]) -> None:
    with running(*flags) as server:
        server.translate()
        thread, found = in_background(server, LONG * 3)
        server.wait_until(lambda: server.metric("regard_requests_in_translation") > 0)
        began = time.monotonic()
        assert server.stop(signal.SIGTERM, signal.SIGTERM) == 130
        assert time.monotonic() - began < 10
        thread.join()
        assert found != [200]
        assert not any("Traceback" in line for line in server.lines)


def test_a_worker_that_is_killed_is_replaced_and_the_others_go_on() -> None:
    with running("--workers", "2") as server:
        server.wait_until(lambda: len(server.children) >= 2)
        assert server.translate().body == {"translatedText": BLACK}
        before = server.children
        serving = [pid for pid in before if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        os.kill(serving[0], signal.SIGKILL)
        server.wait_until(lambda: len(server.children - before) >= 1)
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(server.translate, [CAT] * 40))
        assert [answer.body for answer in answers] == [{"translatedText": BLACK}] * 40


def test_workers_whose_parent_is_killed_end_and_free_the_port() -> None:
    with running("--workers", "2") as server:
        server.translate()
        children = server.children
        os.kill(server.process.pid, signal.SIGKILL)
        try:
            server.wait_until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in children), 30)
            with running("--port", str(server.port)) as again:
                assert again.translate().body == {"translatedText": BLACK}
        finally:
            for pid in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@dataclass
class Acknowledged:
    """What a server has answered, so that it must be in its store."""

    glossaries: dict[str, str] = field(default_factory=dict)  # entries by id
    documents: list[dict[str, str]] = field(default_factory=list)
    requests: int = 0

    def send(self, client: httpx.Client, number: int) -> None:
        """Make glossaries, upload documents and translate until the server is gone."""
        with contextlib.suppress(httpx.TransportError):
            for turn in count():
                entries = f"cat {number} {turn}\tmatou {turn}"
                given = {"name": "n", "source_lang": "en", "target_lang": "fr", "entries": entries}
                made = client.post("/v2/glossaries", json=given)
                self.glossaries[made.json()["glossary_id"]] = entries
                upload = client.post("/v2/document", data={"target_lang": "FR"}, files={"file": ("a.txt", CAT)})
                self.documents.append(upload.json())
                assert client.post("/translate", json={"q": CAT, "source": "en", "target": "fr"}).status_code == 200
                self.requests += 3


def test_a_killed_server_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    """All its processes are killed under load; documents in translation are taken again after their lease."""
    with Store(tmp_path) as store:
        secret, key = ApiKeys(store).add("alice", KeyLimits(per_minute=100_000))
    headers = {"Authorization": f"DeepL-Auth-Key {secret}"}
    flags, known = ["--workers", "2", "--state", tmp_path, "--keys"], Acknowledged()

    def connected(server: ServerProcess) -> httpx.Client:
        return httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=SOON)

    with running(*flags) as server, connected(server) as client, ThreadPoolExecutor(4) as threads:
        sent = [threads.submit(known.send, client, number) for number in range(4)]
        server.wait_until(lambda: len(known.documents) >= 40)
        for pid in (server.process.pid, *server.children):
            os.kill(pid, signal.SIGKILL)
        for one in sent:
            one.result()
    with Store(tmp_path) as store, store.reading() as connection:  # before the requests are a minute old
        assert connection.execute("SELECT count(*) FROM hits").fetchone()[0] >= known.requests
        used = connection.execute("SELECT characters FROM used WHERE subject = ?", (key.owner,)).fetchone()[0]
        assert used >= len(CAT) * (len(known.documents) + known.requests // 3)
    with running(*flags) as server, connected(server) as client:
        found = {row["glossary_id"] for row in client.get("/v2/glossaries").json()["glossaries"]}
        assert found >= set(known.glossaries)
        for id, entries in known.glossaries.items():
            assert client.get(f"/v2/glossaries/{id}/entries").text == entries
        for made in known.documents:
            path, given = f"/v2/document/{made['document_id']}", {"document_key": made["document_key"]}
            until = time.monotonic() + 2 * SOON
            while (status := client.post(path, json=given).json()["status"]) != "done":
                assert status in ("queued", "translating")
                assert time.monotonic() < until
            assert client.post(f"{path}/result", json=given).text == BLACK


def test_a_model_folder_that_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(bundled_models.folder_of(MODEL), folder)
    environment = {**os.environ, "REGARD_CACHE": str(tmp_path / "cache")}
    with running(models=[folder], env=environment) as server:
        folder.rename(tmp_path / "away")
        answer = server.translate()
        assert (answer.status, "Retry-After".lower() in answer.headers) == (503, True)
        assert "cannot be loaded" in answer.body["error"]
        assert str(tmp_path) not in json.dumps(answer.body)
        assert server.ask("/health").status == 200
        (tmp_path / "away").rename(folder)
        assert server.translate().body == {"translatedText": BLACK}
        shutil.rmtree(folder)
        assert server.translate("I see the dog.").status == 200


def test_a_model_that_is_being_loaded_does_not_hold_up_others() -> None:
    with running("--preload", "en-fr", models=["en-fr", MODEL]) as server:
        seen = {server.ask("/ready").status}
        assert server.ask("/health").status == 200
        server.wait_until(lambda: server.ask("/ready").status == 200)
        assert seen <= {200, 503}


def test_an_idle_model_is_dropped_and_its_memory_given_back() -> None:
    with running("--idle", "2", "--engine", "ctranslate2", models=["en-fr"]) as server:
        before = server.memory
        server.translate()
        loaded = server.memory
        server.wait_until(lambda: server.metric("regard_models_loaded") == 0)
        server.wait_until(lambda: server.memory < before + 0.7 * (loaded - before))
        assert server.translate().status == 200


def test_a_client_that_leaves_takes_its_work_along() -> None:
    with running() as server:
        server.translate()
        body = json.dumps({"q": LONG * 3, "source": "en", "target": "fr"})
        head = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
        head += f"\r\nContent-Length: {len(body)}"
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(f"{head}\r\n\r\n{body}".encode())
            server.wait_until(lambda: server.metric("regard_requests_in_translation") == 1)
        server.wait_until(lambda: server.metric("regard_requests_in_translation") == 0, 10)
        assert "gone" in server.ask("/metrics").body


def test_ten_thousand_connections_are_held_then_closed_and_others_are_served() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 10_000
    if hard < wanted + 500:
        pytest.skip(f"the system allows {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 500), hard))
    clients: list[socket.socket] = []
    try:
        with running() as server:
            server.translate()
            before = server.memory
            for number in range(wanted):
                clients.append(socket.create_connection(("127.0.0.1", server.port)))
                if number % 1000 == 0:
                    assert server.translate().body == {"translatedText": BLACK}
            assert server.translate().body == {"translatedText": BLACK}
            assert server.memory - before < 500
            for client in clients:  # each sends no request, so it is closed
                client.settimeout(60)
                assert client.recv(100) == b""
            assert server.translate().body == {"translatedText": BLACK}
    finally:
        for client in clients:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_full_disk_refuses_what_needs_the_store_and_nothing_else(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", state], capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        with running("--state", state, "--per-minute", "10000") as server:
            assert server.translate().status == 200
            (state / "filler").write_bytes(b"x" * (shutil.disk_usage(state).free - PAGE))
            with pytest.raises(OSError, match="No space"):
                (state / "more").write_bytes(b"x" * 10 * PAGE)
            statuses = {server.translate().status for _ in range(200)}
            assert statuses <= {200, 503}
            assert server.ask("/health").status == 200
            (state / "more").unlink()
            (state / "filler").unlink()
            server.wait_until(lambda: server.translate().status == 200)
    finally:
        subprocess.run(["umount", "-l", state], check=True)


def test_a_port_in_use_is_told_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = [sys.executable, "-m", "regard", "serve", MODEL, "--port", str(port)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"port {port}" in done.stderr
