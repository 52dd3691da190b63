"""On paper: light, without controls, nothing cut off, and as before on the screen afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import Open, see
from maps import hard
from regard.explain.render.html import maps_page

pytestmark = pytest.mark.browser
CUT = """() => [...document.querySelectorAll(".scroll, .wide")].filter((box) => box.scrollWidth > box.clientWidth + 2)
  .map((box) => `${box.firstElementChild.className}: ${box.scrollWidth} > ${box.clientWidth}`)"""
LONG = "I could not buy the red car last week because it was too expensive , so my father gave me his old bicycle ."


def brightness(page: Page) -> float:
    """Of the text, in 0 … 1."""
    colour = page.evaluate("getComputedStyle(document.querySelector('main')).color")
    return sum(float(part) for part in colour.strip("rgb()").split(",")[:3]) / 765


def test_the_page_is_printed_in_light_colours_without_controls_and_whole(open_page: Open) -> None:
    page = open_page("inside", scheme="dark", width=700, text=LONG)  # about the width of A4 within its margins
    for name in ("words", "align", "heads"):
        see(page, name)
    thumb = "document.querySelector('.thumb canvas').toDataURL()"
    on_screen = page.evaluate(thumb)
    assert brightness(page) > 0.7
    assert page.evaluate(CUT) != []
    page.emulate_media(media="print", color_scheme="dark", reduced_motion="reduce")
    expect(page.locator("#panel-words .target .word").first).to_be_visible()
    expect(page.locator("#panel-align .details .caption").first).to_be_visible()
    expect(page.locator("#panel-align .details summary").first).to_be_hidden()
    for control in (".top", "#panel-align .controls", ".index", ".foot"):
        expect(page.locator(control).first).to_be_hidden()
    expect(page.locator("#panel-lens")).to_be_hidden()  # which was never near the window
    assert brightness(page) < 0.3
    page.wait_for_function(f"({CUT})().length === 0")  # arcs that arrive now are drawn once more
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.evaluate(thumb) != on_screen  # drawn again in the light colour
    page.emulate_media(media="screen", color_scheme="dark", reduced_motion="reduce")
    assert page.evaluate(CUT) != []
    assert page.evaluate(thumb) == on_screen


def test_reports_are_printed_in_light_colours(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "maps.html"
    file.write_text(maps_page("Maps", [hard("words")]), encoding="utf-8")
    page = browser.new_page(color_scheme="dark")
    page.goto(file.as_uri())
    dark = brightness(page)
    page.emulate_media(media="print", color_scheme="dark")
    assert brightness(page) < 0.3 < 0.7 < dark
    expect(page.locator(".map input")).to_be_hidden()
    page.close()
