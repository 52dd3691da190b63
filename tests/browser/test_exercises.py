"""Exercises on the page of `regard course`: answered wrong and right, by keyboard alone.

One lesson has every kind of input; REGARD_EVERY_LESSON=1 answers all lessons at both widths. REGARD_SCREENSHOTS names a
folder for pictures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browsing import serious
from regard.course.lessons.exercises import (
    ChangeExercise,
    ChoiceExercise,
    Exercise,
    LineExercise,
    NumberExercise,
)
from regard.course.lessons.load import lesson, lessons
from server_process import ServerProcess, running

pytestmark = pytest.mark.browser
EVERY_KIND = 4
EVERY_LESSON = bool(os.environ.get("REGARD_EVERY_LESSON"))
NUMBERS = [one.number for one in lessons()] if EVERY_LESSON else [EVERY_KIND]
SIZES = {"phone": (390, "dark"), "desk": (1280, "light")} if EVERY_LESSON else {"phone": (390, "dark")}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = str(tmp_path_factory.mktemp("data"))
    environment = {**os.environ, "REGARD_DATA": folder, "REGARD_ENGINE": "auto"}  # what learners have
    with running(words=("course", "1", "--no-browser", "--port", "0"), env=environment) as server:
        yield server


@pytest.fixture(params=SIZES)
def page(course: ServerProcess, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    width, scheme = SIZES[request.param]
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )  # fmt: skip
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert wrong == []


def right_answer(exercise: Exercise) -> Any:
    match exercise:
        case NumberExercise():
            return list(exercise.values)
        case ChoiceExercise():
            return exercise.right
        case ChangeExercise():
            return exercise.right[0]
        case LineExercise():
            return exercise.solution
        case _:
            raise TypeError(exercise)


def answer(part: Locator, exercise: Exercise, given: Any) -> None:
    """Fill in by keyboard and check with Enter."""
    page = part.page
    if isinstance(exercise, ChoiceExercise):
        chosen = set(given if isinstance(given, list | tuple) else [given])
        boxes = part.get_by_role("checkbox" if exercise.several else "radio")
        for i in range(len(exercise.choices)):
            wanted = i + 1 in chosen
            if boxes.nth(i).is_checked() != wanted and (wanted or exercise.several):
                boxes.nth(i).focus()
                page.keyboard.press("Space")
        part.get_by_role("button", name="Check").focus()
    else:
        box = part.get_by_role("textbox")
        box.focus()
        page.keyboard.press("ControlOrMeta+A")
        numbers = given if isinstance(given, list | tuple) else [given]
        shown = given if isinstance(given, str) else " ".join(f"{value:.10g}" for value in numbers)
        page.keyboard.insert_text(shown.replace(".", ",") if isinstance(exercise, NumberExercise) else shown)
    page.keyboard.press("Enter")


def shot(part: Locator, name: str) -> None:
    """A picture in the folder REGARD_SCREENSHOTS, if there is one."""
    if folder := os.environ.get("REGARD_SCREENSHOTS"):
        width = part.page.viewport_size["width"]  # type: ignore[index]
        part.screenshot(path=f"{folder}/{name}-{width}.png")


@pytest.mark.parametrize("number", NUMBERS)
def test_exercises_are_answered_wrong_and_right(number: int, page: Page, course: ServerProcess) -> None:
    page.goto(f"http://127.0.0.1:{course.port}/#/lesson?lesson={number}")
    exercises = lesson(number).exercises
    expect(page.locator(".exercise")).to_have_count(len(exercises))
    for place, exercise in enumerate(exercises, 1):
        part = page.get_by_role("region", name=f"Exercise {place} of")
        result = part.get_by_role("status")
        answer(part, exercise, exercise.wrong[0].given)
        expect(result.locator(".note.warm")).to_be_visible()
        shot(part, f"{number}-{exercise.id}-wrong")
        answer(part, exercise, right_answer(exercise))
        expect(result.locator(".note.good")).to_contain_text("Right.")
        expect(part.get_by_text("Solved")).to_be_visible()
        part.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(part.locator("details > .text")).to_be_visible()
        shot(part, f"{number}-{exercise.id}-right")
        assert part.evaluate("part => part.scrollWidth <= part.clientWidth + 1"), exercise.id
    if number == EVERY_KIND:
        assert {type(one) for one in exercises} == {NumberExercise, ChoiceExercise, ChangeExercise, LineExercise}
        for part in page.locator(".exercise").all():
            assert serious(page, f'.exercise[aria-label="{part.get_attribute("aria-label")}"]') == []
