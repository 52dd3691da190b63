"""How much the page loads before it can be used, and the views that are loaded later."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from browsing import CAT, Open
from support import needs_bundler

pytestmark = [pytest.mark.browser, needs_bundler]
LOADED = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((one) => ({ name: new URL(one.name).pathname, bytes: one.transferSize }))"""


def test_the_first_view_is_light_and_the_others_come_when_they_are_opened(open_page: Open) -> None:
    page = open_page()
    expect(page.locator("#source-text")).to_be_editable()
    page.wait_for_load_state("networkidle")
    first: list[dict[str, Any]] = page.evaluate(LOADED)
    assert len(first) <= 8
    assert sum(one["bytes"] for one in first) <= 150_000
    assert [one["name"] for one in first].count("/api/models") == 1  # the preloaded answer is the one that is used

    page.get_by_role("link", name="Look inside").click()
    expect(page.locator("#panel-words")).to_be_visible()
    later = page.evaluate(LOADED)[len(first) :]
    assert "js" in {one["name"].rpartition(".")[2] for one in later}

    page.reload()  # what has a hash in its name is not asked for again
    expect(page.locator("#panel-words")).to_be_visible()
    again = {one["name"]: one["bytes"] for one in page.evaluate(LOADED)}
    assert {name for name, size in again.items() if size} <= {"/", *(n for n in again if n.startswith("/api/"))}


def test_the_frame_is_painted_before_the_scripts_are_there(open_page: Open) -> None:
    page = open_page(scheme="light")
    page.evaluate("localStorage.setItem('regard-theme', 'dark')")
    held: list[Route] = []
    page.route(re.compile(r"\.js$"), lambda route: held.append(route))
    page.reload(wait_until="commit")
    expect(page.get_by_text("Loading …")).to_be_visible()
    top = page.get_by_role("banner").bounding_box()
    looks = page.evaluate("(({ margin, colorScheme }) => [margin, colorScheme])(getComputedStyle(document.body))")
    assert looks == ["0px", "dark"]  # the styles are there, and the reader's choice holds
    for route in held:
        route.continue_()
    expect(page.get_by_role("button", name="Keys and help")).to_be_visible()
    assert page.get_by_role("banner").bounding_box() == top  # nothing moves when they come


def test_a_view_that_cannot_be_loaded_says_so_and_keeps_the_text(open_page: Open) -> None:
    page = open_page(text=CAT)
    expect(page.locator("#source-text")).to_be_editable()
    code = re.compile(r"/(inside|index)-\w{8}\.js$")
    page.route(code, lambda route: answer_404(route))
    page.get_by_role("link", name="Look inside").click()
    problem = page.get_by_text("This view could not be loaded")
    expect(problem).to_be_visible()
    page.unroute(code)
    problem.get_by_role("button", name="Load the page again").click()
    expect(page.locator("#panel-words")).to_be_visible()
    expect(page.locator("#source-text")).to_have_value(CAT)


def answer_404(route: Route) -> None:
    """As a server does whose page is newer."""
    route.fulfill(status=404)
