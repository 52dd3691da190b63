"""The page as a whole: accessibility, lessons, colours, phone, right-to-left, undo, and the page as one file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from browsing import CAT, Open, see, serious
from support import needs_bundler

pytestmark = pytest.mark.browser
PANELS = ("words", "align", "heads", "self", "step", "beam", "bleu", "positions", "evidence", "lens", "model")


def see_all(page: Page) -> None:
    for name in PANELS:
        page.locator(f"#panel-{name}").scroll_into_view_if_needed()
        page.wait_for_timeout(100)
    expect(page.locator('[aria-busy="true"]')).to_have_count(0)


@pytest.mark.parametrize("view", ["translate", "inside", "lesson"])
def test_nothing_serious_stands_in_anybodys_way(open_page: Open, view: str) -> None:
    selection = {"text": CAT, "word": 2, "source": 1, "cut": "cross.1.2", "reference": "Le chat noir dort sur un sofa."}
    page = open_page(view, **(selection if view != "lesson" else {"lesson": 1}))
    if view == "inside":
        see_all(page)
    else:
        expect(page.locator(".ribbons, .pieces").first).to_be_visible()
        page.wait_for_timeout(500)
    found = {"light": serious(page)}
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")  # colours are all in the style sheet
    found["dark"] = serious(page)
    assert found == {"light": [], "dark": []}


@pytest.mark.parametrize("view", ["translate", "inside", "lesson"])
def test_a_phone_needs_no_sideways_scrolling(open_page: Open, view: str) -> None:
    page = open_page(view, width=390, **({"lesson": 1} if view == "lesson" else {"text": CAT, "word": 2}))
    if view == "inside":
        see_all(page)
    else:
        expect(page.locator(".ribbons, .pieces").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_right_to_left_is_mirrored(open_page: Open) -> None:
    page = open_page("inside")

    def arabic(route: Route) -> None:
        answer = route.fetch()
        names = ["القط", "الأسود", "ينام", "على", "الأريكة", "القديمة", "هنا", "الآن", "."]
        changed = answer.json()
        changed["translation"] = "القط الأسود ينام على الأريكة القديمة."
        for number, word in enumerate(changed.get("words", [])):
            word |= {"text": names[number % 9], "span": None}
        for number, word in enumerate(changed.get("rows", [])):
            word["text"] = names[number % 9]
        route.fulfill(response=answer, json=changed)

    page.route("**/api/words", arabic)
    page.route("**/api/attention", arabic)
    page.get_by_label("Text to translate").fill(CAT)
    line = page.locator("#panel-words .target")
    expect(line).to_have_attribute("dir", "rtl")
    words = line.locator(".word")
    first, second = (words.nth(n).bounding_box() for n in (0, 1))
    assert first
    assert second
    assert first["x"] > second["x"]
    words.first.focus()
    page.keyboard.press("ArrowLeft")  # forward is to the left
    expect(words.nth(1)).to_be_focused()
    page.get_by_label("Text to translate").fill("القط الأسود")
    expect(page.get_by_label("Text to translate")).to_have_attribute("dir", "rtl")


def test_colours_follow_the_system_and_the_switch(open_page: Open) -> None:
    page = open_page(scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.locator("#theme").click()  # as the system → dark
    assert page.evaluate(paper) == dark
    page.locator("#theme").click()  # → light
    assert page.evaluate(paper) != dark
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_undo_goes_back_through_the_selection(open_page: Open) -> None:
    page = open_page()
    source = page.get_by_label("Translate from")
    source.select_option("fr")
    source.select_option("de")
    expect(page).to_have_url(re.compile("from=de"))
    page.get_by_role("button", name="Undo").click()
    expect(page).to_have_url(re.compile("from=fr"))
    page.keyboard.press("U")
    expect(page).to_have_url(re.compile("from=de"))


def test_back_returns_to_the_entrance_before(open_page: Open) -> None:
    page = open_page(text=CAT)
    page.get_by_role("link", name="Look inside").click()
    expect(page.locator("#panel-words")).to_be_visible()
    page.go_back()
    expect(page.locator("#output")).to_be_visible()
    expect(page.get_by_label("Text to translate")).to_have_value(CAT)


@pytest.mark.parametrize("lesson", ["1", "7"])
def test_the_views_of_a_lesson_are_live(open_page: Open, lesson: str) -> None:
    page = open_page("lesson", lesson=lesson)
    views = page.locator(".scene .panel")
    expect(views.first).to_be_visible()
    for number in range(views.count()):
        views.nth(number).scroll_into_view_if_needed()
        expect(views.nth(number).locator('[data-state="ready"] > .body:not(:empty)').first).to_be_visible()


def test_a_server_without_models_says_what_to_type(open_page: Open) -> None:
    page = open_page()
    page.route("**/api/models*", lambda route: route.fulfill(json={"models": [], "default": None, "version": "0"}))
    page.reload()
    expect(page.get_by_text("regard serve MODEL")).to_be_visible()


def test_loading_is_said_to_those_who_cannot_see(open_page: Open) -> None:
    page = open_page("inside")
    held: list[Route] = []
    page.route("**/api/words", lambda route: held.append(route))  # playwright asks how many arguments it takes
    page.get_by_label("Text to translate").fill(CAT)
    expect(page.locator("#panel-words [aria-busy=true]").first).to_be_attached()
    page.wait_for_timeout(300)
    held[0].continue_()
    expect(page.locator("#panel-words .ribbons")).to_be_visible()
    expect(page.locator("#panel-words [aria-busy=true]")).to_have_count(0)


@needs_bundler
def test_a_view_is_saved_as_one_file_that_needs_no_server(open_page: Open, browser: Browser, tmp_path: Path) -> None:
    page = open_page("inside", text=CAT, word=2)
    see(page, "align")
    expect(page.locator("#panel-words .target [aria-pressed=true]")).to_have_text("noir")  # what is saved has come
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this view as one file").click()
    file = tmp_path / "view.html"
    download.value.save_as(file)
    offline = browser.new_context(offline=True)
    saved = offline.new_page()
    wrong: list[str] = []
    saved.on("pageerror", lambda error: wrong.append(str(error)))
    saved.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
    saved.goto(file.as_uri())
    expect(saved.locator("#panel-words .target [aria-pressed=true]")).to_have_text("noir")
    see(saved, "align")
    expect(saved.locator("#panel-align .heat td").first).to_be_visible()
    assert wrong == []
    offline.close()


@needs_bundler
def test_a_lecture_needs_no_server(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "lecture.html"
    command = [sys.executable, "-m", "regard", "page", "en-fr-classic", "The cat sleeps.", "--out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    offline = browser.new_context(offline=True)
    page = offline.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{file.as_uri()}#/inside")
    for name in PANELS:
        if name != "bleu":  # which waits for a reference
            see(page, name)
    page.locator("#panel-heads").get_by_role("button", name=re.compile("^layer 1 head 1")).click()
    page.get_by_role("button", name="Cut head 1 of layer 1").click()
    expect(page.locator("#panel-heads .card")).to_contain_text("log p")
    page.keyboard.press("3")
    expect(page.get_by_role("heading", name="How a translator works")).to_be_visible()
    assert wrong == []
    offline.close()


JS_UNITS = """async () => {
  const text = await import("./text.js");
  const state = await import("./state.js");
  const { headsOf } = await import("./questions.js");
  const { distinctResults } = await import("./results.js");
  const { panelsOf } = await import("./places.js");
  const { probabilities } = await import("./picture_steps.js");
  const step = { top: [{ logit: 2 }, { logit: 0 }], log_sums: [0, Math.log(Math.exp(1) + 1)] };
  const turned = { ...state.START, view: "inside", text: "a & b #? é 😀", word: 3, layer: 2 };
  return {
    emoji: text.cut("a😀b", [1, 2]),
    pieces: text.pieces("😀 ab", [[0, 1], [2, 4]]).map((one) => [one.text, one.span]),
    percents: [0.001, 0.873, 0.999, 1, NaN].map(text.percent),
    minus: text.decimal(-0.004),
    problems: [text.rowProblem([0.5, 0.4], 0.1), text.rowProblem([0.5, 0.4]), text.rowProblem([NaN, 1])],
    directions: [text.direction("שלום"), text.direction("cat"), text.direction("123", "ar"), text.direction("", "en")],
    round: JSON.stringify(state.fromHash(state.toHash(turned))) === JSON.stringify(turned),
    hostile: state.fromHash("#/nowhere?word=x&layer=99999999&__proto__=1").word,
    heads: headsOf("cross.2.4 nonsense encoder.1.1"),
    distinct: distinctResults([{ text: "a" }, { text: "b" }, { text: "a" }]).map((one) => [one.number, one.same]),
    panels: ["decoder.2.cross.3", "cross.1.1", "encoder.1.attention"].map((id) =>
      panelsOf({ id, kind: "head" }).map((one) => one.panel)),
    warm: probabilities(step, { temperatures: [1, 2] }, { temperature: 2 }).map((p) => p.toFixed(4)),
  };
}"""


def test_places_numbers_and_addresses(open_page: Open) -> None:
    found = open_page().evaluate(JS_UNITS)
    assert found == {
        "emoji": "😀",
        "pieces": [["😀", 0], [" ", -1], ["ab", 1]],
        "percents": ["<1%", "87%", ">99%", "100%", "–"],
        "minus": "0.00",
        "problems": [None, "not drawn: sums to 0.900", "not drawn: contains NaN or infinity"],
        "directions": ["rtl", "ltr", "rtl", "ltr"],
        "round": True,
        "hostile": -1,
        "heads": [["cross", 2, 4], ["encoder", 1, 1]],
        "distinct": [[0, 1], [1, 0]],
        "panels": [["align", "heads", "step"], ["align", "heads", "step"], ["self", "heads"]],
        "warm": ["0.7311", "0.2689"],
    }
