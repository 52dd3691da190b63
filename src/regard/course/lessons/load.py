"""Reads the lessons: Markdown with TOML front matter (+++) and fences with a type.

    +++                       title, summary, minutes, objectives, notes, start
    ```guess                  TOML: a question to answer before reading on
    ```view NAME              TOML: a view of the web UI
    ```exercise               TOML: a question whose answer is checked
    ```equation               text
    ```code FILE              lines of a file of this repository
    ```console, ```python     a command or a session with what it prints

A fence that holds fences is written with more backticks. An error names the file and the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NoReturn

from regard.course.lessons.exercises import COMMON, read_exercise
from regard.course.lessons.lesson import (
    Block,
    Equation,
    Exercise,
    Guess,
    Lesson,
    LiveView,
    Prose,
    QuotedCode,
    Session,
)  # fmt: skip
from regard.errors import InputError

VIEWS = (
    "words", "align", "heads", "self", "step", "beam", "bleu", "positions", "evidence", "lens", "pieces", "bottleneck",
    "model", "learn", "break",
)  # fmt: skip
# Each key with its type; "?" marks one that may be absent.
FRONT_KEYS = {
    "title": "text", "summary": "text", "minutes": "whole number", "objectives": "texts", "notes": "text?",
    "start": "table?",
}  # fmt: skip
GUESS_KEYS = {"question": "text", "answer": "text", "choices": "texts?", "right": "whole number?"}
VIEW_KEYS = {"caption": "text", "set": "table?", "tries": "tables?"}
FENCES = ("guess", "view", "exercise", "equation", "code", "console", "python")
OBJECTIVES = (2, 4)  # at least and at most
MOST_MINUTES = 10
FILE_NAME = re.compile(r"(\d\d)-([a-z-]+)\.md")
OPENING = re.compile(r"(`{3,})\s*([^`]*)")
TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, kind) for one in value)


TYPES: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str) and bool(value.strip()),
    "texts": lambda value: _is_list(value, str),
    "whole number": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "table": lambda value: isinstance(value, dict),
    "tables": lambda value: _is_list(value, dict),
}


@cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons, in order.

    >>> [lesson.number for lesson in lessons()] == list(range(1, 13))
    True
    """
    folder = files("regard.course.lessons").joinpath("text")
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".md"))
    return tuple(parse(folder.joinpath(name).read_text(encoding="utf-8"), name) for name in found)


def lesson(number: int) -> Lesson:
    """The lesson with this number."""
    if not 1 <= number <= len(lessons()):
        raise InputError(f"there are lessons 1 to {len(lessons())}, but not {number}")
    return lessons()[number - 1]


def selections() -> list[Mapping[str, Any]]:
    """The parts of the page's selection that the lessons begin with or offer, in order."""
    found: list[Mapping[str, Any]] = []
    for one in lessons():
        found.append(one.start)
        for view in (block for block in one.blocks if isinstance(block, LiveView)):
            found += [view.set, *(change for _, change in view.tries)]
    return [change for change in found if change]


def sentences() -> list[str]:
    """Every text that a lesson begins with or offers, once each, in order.

    >>> sentences()[0]
    'The black cat sleeps on the old sofa.'
    """
    return list(dict.fromkeys(change[key] for change in selections() for key in ("text", "pair") if key in change))


def parse(text: str, name: str) -> Lesson:
    """A lesson from its source; `name` is that of the file."""
    return _Source(text, name).lesson()


class _Source:
    """The lines of one file. Line numbers count from 1."""

    def __init__(self, text: str, name: str) -> None:
        self.lines = text.splitlines()
        self.name = name

    def fail(self, line: int, message: str) -> NoReturn:
        raise InputError(f"{self.name}, line {line}: {message}")

    def lesson(self) -> Lesson:
        named = FILE_NAME.fullmatch(self.name)
        if not named:
            raise InputError(f"the name of a lesson must be like 04-attention.md, but is {self.name}")
        if self.lines[:1] != ["+++"] or "+++" not in self.lines[1:]:
            self.fail(1, "a lesson begins with its front matter between two lines of +++")
        end = self.lines.index("+++", 1)
        front = self.table(2, end, FRONT_KEYS)
        if not OBJECTIVES[0] <= len(front["objectives"]) <= OBJECTIVES[1]:
            self.fail(self.line_of("objectives", 2, end), f"objectives must be {OBJECTIVES[0]} to {OBJECTIVES[1]}")
        if not 1 <= front["minutes"] <= MOST_MINUTES:
            self.fail(self.line_of("minutes", 2, end), f"minutes must be from 1 to {MOST_MINUTES}")
        return Lesson(
            int(named[1]), named[2], front["title"], front["summary"], front["minutes"], tuple(front["objectives"]),
            front.get("notes", ""), front.get("start", {}), tuple(self.blocks(end + 2)),
        )  # fmt: skip

    # -------------------------------------------------------------------------------------------------------- blocks

    def blocks(self, first: int) -> Iterator[Block]:
        """The blocks from a line on."""
        prose: list[str] = []
        ids: set[str] = set()
        at = first
        while at <= len(self.lines):
            opening = OPENING.fullmatch(self.lines[at - 1])
            if not opening:
                prose.append(self.lines[at - 1])
                at += 1
                continue
            if "".join(prose).strip():
                yield Prose("\n".join(prose).strip())
            prose = []
            end = self.end_of(at, opening[1])
            block = self.fence(at, end, *opening[2].strip().partition(" ")[::2])
            if isinstance(block, Exercise):
                if block.id in ids:
                    self.fail(self.line_of("id", at + 1, end), f'the id "{block.id}" occurs twice')
                ids.add(block.id)
            yield block
            at = end + 1
        if "".join(prose).strip():
            yield Prose("\n".join(prose).strip())

    def end_of(self, start: int, ticks: str) -> int:
        """The line that closes the fence of this line."""
        for at in range(start + 1, len(self.lines) + 1):
            line = self.lines[at - 1].rstrip()
            if len(line) >= len(ticks) and not line.strip("`"):
                return at
        return self.fail(start, f"the fence has no end; write {ticks} on a line of its own")

    def fence(self, start: int, end: int, kind: str, rest: str) -> Block:
        body = "\n".join(self.lines[start : end - 1])
        if kind not in FENCES:
            self.fail(start, f'the type of a fence must be one of {", ".join(FENCES)}, but is "{kind}"')
        if (kind in ("view", "code")) != bool(rest):
            self.fail(
                start, f"write ```{kind} {'with one name' if kind in ('view', 'code') else 'with nothing after it'}"
            )
        if kind == "guess":
            return self.guess(start, end)
        if kind == "view":
            return self.view(start, end, rest)
        if kind == "exercise":
            return self.exercise(start, end)
        if not body.strip():
            self.fail(start, "the fence is empty")
        if kind == "equation":
            return Equation(body)
        if kind == "code":
            return QuotedCode(rest, body)
        prompt = {"console": "$ regard ", "python": ">>> "}[kind]
        if not body.startswith(prompt):
            self.fail(start + 1, f"a block of {kind} begins with {prompt}")
        return Session(kind, body)

    def guess(self, start: int, end: int) -> Guess:
        found = self.table(start + 1, end - 1, GUESS_KEYS)
        choices, right = tuple(found.get("choices", ())), found.get("right")
        if bool(choices) != (right is not None):
            self.fail(start, "a guess with choices needs right, and one without has none")
        if right is not None and not 1 <= right <= len(choices):
            self.fail(self.line_of("right", start + 1, end), f"right must be from 1 to {len(choices)}, but is {right}")
        return Guess(found["question"], found["answer"], choices, right)

    def view(self, start: int, end: int, name: str) -> LiveView:
        if name not in VIEWS:
            self.fail(start, f'a view must be one of {", ".join(VIEWS)}, but is "{name}"')
        found = self.table(start + 1, end - 1, VIEW_KEYS)
        tries = found.get("tries", [])
        for one in tries:
            if set(one) != {"label", "set"} or not TYPES["text"](one["label"]) or not TYPES["table"](one["set"]):
                self.fail(self.line_of("tries", start + 1, end), "each of tries has a label and a set")
        return LiveView(
            name, found["caption"], found.get("set", {}), tuple((one["label"], one["set"]) for one in tries)
        )

    # ----------------------------------------------------------------------------------------------------- exercises

    def exercise(self, start: int, end: int) -> Exercise:
        found = self.toml(start + 1, end - 1)
        try:
            read_exercise(found)
        except InputError as problem:
            keys = problem.parameters
            self.fail(self.line_of(keys[0], start + 1, end) if keys else start, str(problem))
        own = {key: value for key, value in found.items() if key not in COMMON}
        return Exercise(found["id"], found["kind"], found["question"], found["answer"], own, found.get("source", ""))

    # ---------------------------------------------------------------------------------------------------------- TOML

    def table(self, first: int, last: int, keys: Mapping[str, str]) -> dict[str, Any]:
        """The TOML of these lines, with these keys and no others."""
        found = self.toml(first, last)
        for key, value in found.items():
            line = self.line_of(key, first, last)
            if key not in keys:
                self.fail(line, f'the key "{key}" is unknown; known are {", ".join(keys)}')
            kind = keys[key].removesuffix("?")
            if not TYPES[kind](value):
                self.fail(line, f"{key} must be {_with_article(kind)}, but is {value!r}")
        for key, kind in keys.items():
            if key not in found and not kind.endswith("?"):
                self.fail(first - 1, f'the key "{key}" is missing')
        return found

    def toml(self, first: int, last: int) -> dict[str, Any]:
        try:
            return tomllib.loads("\n".join(self.lines[first - 1 : last]))
        except tomllib.TOMLDecodeError as problem:
            place = TOML_PLACE.search(str(problem))
            line = first + int(place[1]) - 1 if place and place[1] else last
            self.fail(line, TOML_PLACE.sub("", str(problem)))

    def line_of(self, key: str, first: int, last: int) -> int:
        """The line on which a key stands, or the line before the first."""
        wanted = re.compile(rf"\s*(?:{re.escape(key)}|\"{re.escape(key)}\")\s*=")
        return next((at for at in range(first, last + 1) if wanted.match(self.lines[at - 1])), first - 1)


def _with_article(kind: str) -> str:
    return f"a list of {kind} (not empty)" if kind in ("texts", "tables") else f"a {kind}"
