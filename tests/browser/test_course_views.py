"""The views of lessons that compute: a part is removed and put back, and a training is watched."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from browsing import Open, serious
from regard.serve.training_service import WatchedRun

pytestmark = pytest.mark.browser


def test_a_part_is_put_back_and_removed_by_keyboard(open_page: Open) -> None:
    page = open_page("lesson", lesson=9)  # begins without positions
    view = page.locator("[id^=panel-break]")
    view.scroll_into_view_if_needed()
    now = view.get_by_role("rowheader", name="now")
    expect(now).to_be_visible(timeout=90_000)  # the model is loaded first
    expect(view.get_by_text("a bag of words")).to_be_visible()
    assert serious(page, "[id^=panel-break]") == []
    view.get_by_role("button", name="Put back: Positions").press("Enter")
    expect(now).to_have_count(0)
    expect(view.get_by_role("button", name="Remove: Positions")).to_be_focused()
    page.keyboard.press("Enter")
    expect(now).to_be_visible()
    expect(view.get_by_text("What you tried: 2")).to_be_visible()
    expect(view.get_by_role("slider", name="Positions")).to_be_visible()
    view.get_by_role("button", name="Put everything back").press("Enter")  # which leaves nothing for this button to do
    expect(now).to_have_count(0)
    expect(view.get_by_role("button", name="Remove: Causal mask")).to_be_focused()


def test_heads_stay_open_when_the_last_is_put_back(open_page: Open) -> None:
    page = open_page("lesson", lesson=8)
    view = page.locator("[id^=panel-break]")
    view.scroll_into_view_if_needed()
    view.get_by_text("Heads: all 48 there").click()
    head = view.get_by_role("button", name="remove head 1 of layer 1", exact=True).first
    head.press("Enter")
    expect(view.get_by_text("Heads: 1 of 48 removed")).to_be_visible()
    head.press("Enter")
    expect(view.get_by_text("Heads: all 48 there")).to_be_visible()
    expect(head).to_be_focused()


def test_a_choice_keeps_the_focus(open_page: Open) -> None:
    page = open_page("lesson", lesson=4)
    view = page.locator("[id^=panel-align]")
    view.scroll_into_view_if_needed()
    scale = view.get_by_role("group", name="Scale").get_by_role("radio")
    scale.nth(0).press("ArrowRight")
    expect(scale.nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(scale.nth(0)).to_be_checked()


def watched(model: str, number: int) -> dict[str, Any]:
    run = WatchedRun(number, model, 60.0)
    about = {
        "parameters": 400_000,
        "sentences": 3000,
        "words": [900, 1200],
        "held_out": 40,
        "reference": "Le chat dort.",
    }
    run.hear({"kind": "begin", **about, "source": ["The", "cat", "sleeps", "."], "target": ["Le", "chat", "dort", "."]})
    uniform = [[0.2] * 5] * 4
    for second in range(10):
        run.hear({"kind": "loss", "second": second, "update": 9 * second, "loss": 7 - second / 2})
    for second, bleu in ((0, 0.0), (3, 12.0), (9, 70.0)):
        look = {"second": second, "update": 9 * second, "bleu": bleu, "translation": f"Le chat {second}."}
        attention = {} if model == "rnn" else {"weights": uniform, "head": [1, 1, 1], "on_links": 0.2}
        run.hear({"kind": "look", **look, **attention})
    run.state = "finished"
    return asdict(run)


def test_two_trainings_side_by_side(open_page: Open) -> None:
    """The runs are given: a real training takes a minute, and tests/serve/test_training.py has one."""
    runs = [watched("rnn", 1), watched("rnn-attention", 2)]
    page = open_page("translate", width=390)

    def lessons(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        found["can"]["learn"] = True
        route.fulfill(response=answer, json=found)

    page.route("**/api/lessons", lessons)
    page.route("**/api/training", lambda route: route.fulfill(json={"models": [], "runs": runs}))
    page.goto(page.url.partition("#")[0] + "#/lesson?lesson=5")
    view = page.locator("[id^=panel-learn]")
    view.scroll_into_view_if_needed()
    expect(view.locator(".chart polyline")).to_have_count(4)
    expect(view.get_by_role("grid")).to_be_visible()
    time = view.get_by_role("slider", name="Time of the training")
    time.press("Home")
    expect(view.get_by_text("Le chat 0.")).to_be_visible()
    expect(time).to_be_focused()
    view.get_by_role("button", name="RNN without attention: BLEU 70").click()
    expect(view.get_by_text("one vector")).to_be_visible()
    assert serious(page, "[id^=panel-learn]") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_server_that_does_not_train_says_so(open_page: Open) -> None:
    page = open_page("lesson", lesson=5)
    view = page.locator("[id^=panel-learn]")
    view.scroll_into_view_if_needed()
    expect(view.get_by_text("regard course")).to_be_visible()
