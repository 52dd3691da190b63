"""The files under deploy/: the dashboard asks for what the server measures, checked against a real Prometheus."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from regard.serve.monitoring import registry
from server_process import running

DEPLOY = Path(__file__).parents[2] / "deploy"
OF_PROMETHEUS = {"up", "process_cpu_seconds_total"}
prometheus = shutil.which("prometheus")


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    return found


def queries() -> list[str]:
    """As Grafana would send them."""
    written = [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]
    variables = {"$__rate_interval": "20s", "$instance": ".*", "$job": ".*"}
    return [re.sub(r"\$\w+", lambda found: variables[found[0]], one) for one in written]


def test_the_dashboard_asks_only_for_what_is_measured() -> None:
    declared = {metric.name for metric in registry.collect()} | OF_PROMETHEUS
    for query in queries():
        for name in re.findall(r"\b(?:regard|process)_\w+|\bup\b", query):
            assert re.sub(r"_(total|bucket|sum|count)$", "", name) in declared or name in declared, name


def test_panels_do_not_overlap() -> None:
    places = [panel["gridPos"] for panel in dashboard()["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(cells)) == len(cells)


def test_the_proxy_and_prometheus_know_the_replicas() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    replicas = {name for name in services if name.startswith("replica")}
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"][0]
    assert set(scraped["static_configs"][0]["targets"]) == {f"{name}:8000" for name in replicas}
    assert set(re.findall(r"server (replica-\d):8000", (DEPLOY / "nginx.conf").read_text(encoding="utf-8"))) == replicas


@pytest.mark.long
@pytest.mark.skipif(prometheus is None, reason="prometheus is not installed (apt-get install prometheus)")
def test_a_real_prometheus_answers_every_query(tmp_path: Path) -> None:
    assert prometheus is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with running() as server:
        settings = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))
        settings["global"]["scrape_interval"] = "1s"
        settings["scrape_configs"][0]["static_configs"] = [{"targets": [f"127.0.0.1:{server.port}"]}]
        (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        words = [prometheus, f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data"]
        listening = f"--web.listen-address=127.0.0.1:{port}"
        process = subprocess.Popen([*words, listening], stderr=subprocess.DEVNULL, cwd=tmp_path)
        try:
            until = time.monotonic() + 60
            empty = set(queries())
            while empty and time.monotonic() < until:
                assert server.translate().status == 200
                assert server.ask("/api/translate", {"text": "The dog. " * 10_000, "target": "fr"}).status == 413
                time.sleep(1)
                try:
                    empty = {query for query in empty if not asked(port, query)}
                except OSError:
                    continue
            assert not empty
        finally:
            process.terminate()
            process.wait(30)


def asked(port: int, query: str) -> list[Any]:
    with urlopen(f"http://127.0.0.1:{port}/api/v1/query?{urlencode({'query': query})}", timeout=10) as answer:
        found = json.load(answer)
    assert found["status"] == "success"
    series: list[Any] = found["data"]["result"]
    assert all(one["value"][1] != "NaN" or "quantile" in query for one in series)
    return [one for one in series if one["value"][1] != "NaN"]
