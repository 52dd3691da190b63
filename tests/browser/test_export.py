"""The files that `regard course export` writes for a browser, opened from the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import serious
from regard.course.lessons.export import export_lessons
from regard.course.lessons.load import lesson, lessons

pytestmark = pytest.mark.browser
Show = Callable[..., Page]


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    """Open a file. What it requests from elsewhere, or goes wrong in it, fails the test."""
    wrong: list[str] = []
    contexts = []

    def start(path: Path, width: int, scheme: str) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on(
            "request", lambda request: wrong.append(request.url) if request.url[:5] not in ("file:", "data:") else None
        )
        page.goto(path.as_uri())
        return page

    yield start
    for context in contexts:
        context.close()
    assert wrong == []


def test_slides_are_shown_by_reveal(show: Show, tmp_path: Path) -> None:
    (path,) = export_lessons(lessons(), "slides", tmp_path / "slides.html")
    page = show(path, 1280, "dark")
    page.wait_for_function("Reveal.isReady()")
    assert page.evaluate("Reveal.getHorizontalSlides().length") == len(lessons())
    expect(page.locator("section.present h1")).to_have_text("From text to numbers and back")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("Reveal.getIndices()").items() >= {"h": 0, "v": 1}.items()
    cut = page.evaluate(
        """() => Reveal.getSlides().filter((slide) => {
            const { h, v } = Reveal.getIndices(slide);
            Reveal.slide(h, v);
            return slide.scrollHeight > 705 || slide.scrollWidth > 1125;
        }).map((slide) => slide.textContent.slice(0, 60))"""
    )
    assert cut == []
    page.evaluate("Reveal.slide(3, Reveal.getHorizontalSlides()[3].children.length - 1, -1)")  # before its answer
    answer = page.locator("section.present section.present .answer").first
    expect(answer).to_be_hidden()  # until the next key
    page.keyboard.press("ArrowDown")
    expect(answer).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_page_unfolds_its_answers(width: int, scheme: str, show: Show, tmp_path: Path) -> None:
    (path,) = export_lessons([lesson(4), lesson(12)], "html", tmp_path / "course.html")
    page = show(path, width, scheme)
    page.get_by_role("link", name="BLEU").first.click()
    assert page.url.endswith("#lesson-12")
    fold = page.locator("#lesson-12 details").first
    expect(fold.locator("p").first).to_be_hidden()
    fold.locator("summary").click()
    expect(fold.locator("p").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
