"""What happens when something breaks (docs/operations.md has the table): real processes that are killed or starved."""

from __future__ import annotations

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
from pathlib import Path

import pytest

from regard.bundle import bundled_models
from server_process import MODEL, ServerProcess, running

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
