"""A real server, Debian's chromium, and one page a test. `make test-browser` runs these; `make test` does not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from browsing import CHROMIUM, Open, RunningServer
from regard.bundle import bundled_models

# Chromium obeys the last --disable-features. These are those of playwright's own that matter here, and the parts of the
# address bar that every new context would load into a process of their own.
WITHOUT = (
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "OptimizationHints", "PaintHolding", "ThirdPartyStoragePartitioning"),
    *("WebUIOmniboxAimPopup", "WebUIOmniboxPopup"),
)
QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    f"--disable-features={','.join(WITHOUT)}",
]

PAIRS = """The black cat sleeps.\tLe chat noir dort.
The dog eats.\tLe chien mange.
I see the old sofa.\tJe vois le vieux canapé.
"""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, registers: Path) -> Iterator[RunningServer]:
    """With three models of the box, one that has its training pairs at hand, and one with tags for both registers."""
    folder = tmp_path_factory.mktemp("models") / "with-pairs"
    shutil.copytree(bundled_models.folder_of("en-fr-classic"), folder)
    (folder / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    shutil.copytree(registers / "en-fr", folder.with_name("with-registers"))
    made = RunningServer("en-fr-classic", "fr-en", "de-en", str(folder), str(folder.with_name("with-registers")))
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing; install it with: apt-get install chromium", pytrace=False)
    expect.set_options(timeout=30_000)  # explanations take their time on a busy machine
    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield made
        made.close()


@pytest.fixture
def open_page(server: RunningServer, browser: Browser) -> Iterator[Open]:
    """Open the page at a place with a selection. What goes wrong in it, or leaves the origin, fails the test."""
    wrong: list[str] = []
    contexts = []

    def start(view: str = "translate", /, *, width: int = 1280, scheme: str = "light", **selection: object) -> Page:
        looks = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "reduced_motion": "reduce"}
        context = browser.new_context(**looks)  # type: ignore[arg-type]
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("request", lambda request: wrong.append(f"left: {request.url}") if left(request.url) else None)
        page.on("console", lambda line: wrong.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(f"{server.address}#/{view}?{urlencode(selection)}")
        return page

    def left(url: str) -> bool:
        return not url.startswith((server.address, "blob:", "data:"))

    yield start
    for context in contexts:
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")  # a request of the last action may still be on its way
        context.close()
    assert wrong == []
