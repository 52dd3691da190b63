"""The lessons in a browser: the list, a guess, views with a selection of their own, and what is remembered."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from browsing import CAT, Open, serious

pytestmark = pytest.mark.browser
GUESS = {
    "kind": "guess",
    "question": "<p>Which?</p>",
    "choices": ["this", "<em>that</em>"],
    "right": 2,
    "answer": "<p>That one.</p>",
}
OTHER = "The dog eats."
VIEWS = [
    {"kind": "view", "name": "pieces", "caption": "<p>Follows.</p>", "set": {}, "tries": []},
    {
        "kind": "view", "name": "pieces", "caption": "<p>Its own.</p>", "set": {"text": OTHER},
        "tries": [{"label": "A try", "set": {"text": "She sleeps."}}],
    },
    {"kind": "view", "name": "pieces", "caption": "<p>No model.</p>", "set": {"model": "en-xx"}, "tries": []},
]  # fmt: skip
HOSTILE = '<p>Text <script>alert(1)</script><a href="javascript:x">link</a></p>'


def of_two_views(page: Page) -> None:
    """Lesson 1 with these blocks only."""

    def change(route: Route) -> None:
        answer: dict[str, Any] = route.fetch().json()
        blocks = [GUESS, *VIEWS, {"kind": "html", "html": HOSTILE}]
        route.fulfill(json=answer | {"blocks": blocks, "start": {"text": CAT}, "exercises": []})

    page.route("**/api/lessons/1", change)


def test_the_list_leads_to_a_lesson_and_remembers_what_is_done(open_page: Open) -> None:
    page = open_page("lesson")
    cards = page.locator(".contents a")
    expect(cards).to_have_count(12)
    expect(cards.nth(0)).to_contain_text("next")
    cards.nth(0).focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_text("Lesson 1 of 12")).to_be_visible()
    expect(page.locator("h1")).to_be_focused()
    page.get_by_role("button", name="Mark as done").press("Enter")
    expect(page.get_by_text("✓ Done")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("1 of 12 lessons done")).to_be_visible()
    page.reload()
    expect(page.locator(".contents a").nth(0)).to_contain_text("✓ done")
    expect(page.locator(".contents a").nth(1)).to_contain_text("next")


def test_a_guess_comes_before_its_answer_and_is_remembered(open_page: Open) -> None:
    page = open_page("translate")
    of_two_views(page)
    page.goto(page.url.partition("#")[0] + "#/lesson?lesson=1")
    expect(page.get_by_text("That one.")).to_have_count(0)
    expect(page.get_by_role("button", name="Show the answer")).to_be_disabled()
    page.get_by_label("(a) this").check()
    page.get_by_role("button", name="Show the answer").press("Enter")
    expect(page.get_by_text("It is (b).")).to_be_visible()
    expect(page.get_by_text("That one.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("That one.")).to_be_visible()
    expect(page.get_by_label("(a) this")).to_be_checked()


def test_a_view_with_its_own_sentence_keeps_it(open_page: Open) -> None:
    page = open_page("translate")
    of_two_views(page)
    page.goto(page.url.partition("#")[0] + "#/lesson?lesson=1")
    views = page.locator(".scene")
    expect(views.nth(0).locator(".pieces")).to_contain_text("cat")
    views.nth(2).scroll_into_view_if_needed()  # a view asks when it is about to be seen
    expect(views.nth(1).locator(".pieces")).to_contain_text("dog")
    expect(views.nth(2)).to_contain_text("This server has no model en-xx")
    views.nth(1).get_by_role("button", name="A try").click()
    expect(views.nth(1).locator(".pieces")).to_contain_text("She")
    page.get_by_label("The sentence of this lesson").fill("I see him.")
    expect(views.nth(0).locator(".pieces")).to_contain_text("him")
    expect(views.nth(1).locator(".pieces")).to_contain_text("She")
    views.nth(1).get_by_role("button", name="Back to the example").click()
    expect(views.nth(1).locator(".pieces")).to_contain_text("dog")
    page.get_by_role("button", name="Back to the lesson’s sentence").click()
    expect(views.nth(0).locator(".pieces")).to_contain_text("cat")
    assert page.locator('a[href^="javascript"]').count() == 0
    assert serious(page) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
