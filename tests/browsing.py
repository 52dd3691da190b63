"""What the browser tests share: a server that can be stopped, and how to wait for a panel."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

CHROMIUM = os.environ.get("REGARD_CHROMIUM", "/usr/bin/chromium")
CAT = "The black cat sleeps on the old sofa."
Open = Callable[..., Page]


class RunningServer:
    """`regard serve` as a process of its own, which a test may stop and start again at the same address."""

    def __init__(self, *models: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.models = models
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        command = [sys.executable, "-m", "regard", "serve", *self.models, "--port", str(self.port)]
        engine = {**os.environ, "REGARD_ENGINE": "auto"}  # what users have
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=engine)
        for _ in range(1800):  # a busy machine is slow
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.address}health", timeout=1):
                return
            assert self.process.poll() is None, "the server ended while it started"
            time.sleep(0.1)
        raise AssertionError("the server did not answer within three minutes")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)
            self.process = None


def see(page: Page, name: str) -> None:
    """Bring a panel near the window, which makes it ask, and wait for its answer."""
    panel = page.locator(f"#panel-{name}")
    panel.scroll_into_view_if_needed()
    expect(panel.locator('[data-state="ready"] > .body:not(:empty)').first).to_be_visible()


def serious(page: Page, part: str | None = None) -> list[str]:
    """The violations of accessibility rules that axe calls serious or critical, on the page or in a part of it."""
    found = Axe().run(page, context=part).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
