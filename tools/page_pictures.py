"""Pictures of the page for the documents: `python tools/page_pictures.py docs/img` (needs playwright and chromium).

A server of this checkout is started, each view is opened in a real browser, light and dark, and what is seen is written
as PNG. A picture of more than 200 kB is an error.
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browsing import CHROMIUM, RunningServer, see

MODEL = "en-fr-classic"
TEXT = "The black cat sleeps on the old sofa."
SIZE = {"width": 1200, "height": 800}
LARGEST = 200_000  # bytes


def translated(page: Page) -> None:
    expect(page.locator(".ribbons .band").first).to_be_visible()


def looked_inside(page: Page) -> None:
    see(page, "words")
    see(page, "align")
    page.locator("#panel-align").scroll_into_view_if_needed()


def opened_model(page: Page) -> None:
    see(page, "picture")
    page.locator("#panel-picture .steps").scroll_into_view_if_needed()
    page.locator("#panel-picture").evaluate("panel => panel.scrollIntoView()")


# the name of each picture: the entrance, and what to do there
VIEWS = {
    "translate": ("translate", translated),
    "model": ("inside", opened_model),
    "inside": ("inside", looked_inside),
}


def picture(browser: Browser, address: str, view: str, scheme: str, out: Path) -> None:
    looks = {"viewport": SIZE, "color_scheme": scheme, "reduced_motion": "reduce", "device_scale_factor": 1}
    context = browser.new_context(**looks)  # type: ignore[arg-type]
    page = context.new_page()
    entrance, prepare = VIEWS[view]
    page.goto(f"{address}#/{entrance}?{urlencode({'model': MODEL, 'text': TEXT, 'word': 2, 'step': 2})}")
    prepare(page)
    path = out / f"page-{view}-{scheme}.png"
    page.screenshot(path=path)
    context.close()
    size = path.stat().st_size
    print(f"{path}: {size / 1000:.0f} kB")
    if size > LARGEST:
        raise SystemExit(f"{path} has {size:,} bytes, more than {LARGEST:,}")


def warm_up(address: str) -> None:
    """Let the server load what it loads once, so that the browser does not wait for it on a busy machine."""
    body = json.dumps({"model": MODEL, "text": TEXT}).encode()
    for path in ("api/translate", "api/words", "api/attention"):
        request = urllib.request.Request(address + path, body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=600).close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder of the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    server = RunningServer(MODEL, "--timeout", "600")
    server.start()
    warm_up(server.address)
    expect.set_options(timeout=120_000)
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            for view in VIEWS:
                for scheme in ("light", "dark"):
                    picture(browser, server.address, view, scheme, out)
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
