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
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from regard.config import build, require
from regard.course.lessons.exercises import read_exercise
from regard.course.lessons.lesson import Block, Guess, Lesson, Listing, LiveView, Prose, QuotedCode
from regard.errors import InputError, RegardError

FENCES = "guess, view NAME, exercise, equation, code FILE, console or python"
PROMPTS = {"console": "$ regard ", "python": ">>> "}
FILE_NAME = re.compile(r"(\d\d)-([a-z-]+)\.md")
FRONT = re.compile(r"\+\+\+\n(.*?)^\+\+\+\n", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^(`{3,}) *([^`\n]*)\n(.*?)^\1`* *$", re.DOTALL | re.MULTILINE)
OPENING = re.compile(r"^`{3,}", re.MULTILINE)


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
            found += [view.set, *(change.set for change in view.tries)]
    return found


def sentences() -> list[str]:
    """Every text that a lesson begins with or offers, once each, in order.

    >>> sentences()[0]
    'The black cat sleeps on the old sofa.'
    """
    return list(dict.fromkeys(change[key] for change in selections() for key in ("text", "pair") if key in change))


def parse(text: str, name: str) -> Lesson:
    """A lesson from its source; `name` is that of the file."""
    named, front = FILE_NAME.fullmatch(name), FRONT.match(text)
    if not named:
        raise InputError(f"the name of a lesson must be like 04-attention.md, but is {name}")
    if not front:
        raise InputError(f"{name}, line 1: a lesson begins with its front matter between two lines of +++")
    blocks = tuple(_blocks(text, front.end(), name))
    try:
        own = {"number": int(named[1]), "slug": named[2], "blocks": blocks}
        return build(Lesson, _toml(front, 1) | own, "lesson")
    except (RegardError, tomllib.TOMLDecodeError) as problem:
        raise _located(problem, name, front, 1) from None


def _blocks(text: str, start: int, name: str) -> Iterator[Block]:
    """The blocks from a position on."""
    for fence in FENCE.finditer(text, start):
        yield from _prose(text, start, fence.start(), name)
        try:
            yield _block(fence)
        except (RegardError, tomllib.TOMLDecodeError) as problem:
            raise _located(problem, name, fence, 3) from None
        start = fence.end()
    yield from _prose(text, start, len(text), name)


def _prose(text: str, start: int, end: int, name: str) -> Iterator[Prose]:
    if opening := OPENING.search(text[start:end]):
        line = _line_at(text, start + opening.start())
        raise InputError(f"{name}, line {line}: the fence has no end; write {opening[0]} on a line of its own")
    if prose := text[start:end].strip():
        yield Prose(prose)


def _block(fence: re.Match[str]) -> Block:
    kind, _, rest = fence[2].strip().partition(" ")
    body = fence[3].removesuffix("\n")
    match kind, bool(rest):
        case "guess", False:
            return build(Guess, _toml(fence, 3), "guess")
        case "view", True:
            return build(LiveView, _toml(fence, 3) | {"name": rest}, "view")
        case "exercise", False:
            return read_exercise(_toml(fence, 3))
        case "code", True:
            return QuotedCode(rest, body)
        case (("equation" | "console" | "python"), False):
            prompt = PROMPTS.get(kind, "")
            require(body.startswith(prompt) and body.strip() != "", f"a block of {kind} begins with {prompt or 'text'}")
            return Listing(kind, body)
    raise InputError(f'a fence must be one of {FENCES}, but is "{fence[2].strip()}"')


def _toml(found: re.Match[str], group: int) -> dict[str, Any]:
    """The TOML of a group; empty lines before it make the line numbers of errors those of the file."""
    return tomllib.loads("\n" * (_line_at(found.string, found.start(group)) - 1) + found[group])


def _located(problem: Exception, name: str, found: re.Match[str], group: int) -> InputError:
    """The error with the file and the line of the first key of the TOML that the message names, or the line before."""
    at = found.start()
    for word in re.findall(r"\w+", str(problem)) if isinstance(problem, RegardError) else ():
        if key := re.compile(rf"^{word} *=", re.MULTILINE).search(found.string, found.start(group), found.end(group)):
            at = key.start()
            break
    return InputError(f"{name}, line {_line_at(found.string, at)}: {problem}")


def _line_at(text: str, position: int) -> int:
    return 1 + text.count("\n", 0, position)
