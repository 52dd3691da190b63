"""A lesson as a Jupyter notebook: texts, commands and Python as cells with their outputs, answers folded away.

The format is nbformat 4.5; a test validates it, and runs the cells.
"""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Iterator
from typing import Any

from regard.course.lessons.docs_page import block_markdown, fence, folded, introduction, question_and_answer
from regard.course.lessons.exercises import ChangeExercise, Exercise, LineExercise
from regard.course.lessons.lesson import Block, Lesson, Listing, QuotedCode

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
OTHER_LESSON = re.compile(r"(\d\d-[a-z-]+)\.md(?:#.*)?")
INSTALL = 'pip install "regard[torch]"'

Cell = dict[str, Any]


def notebook(lesson: Lesson) -> str:
    """The notebook of a lesson, as the text of an .ipynb file."""
    about = f"{lesson.minutes} minutes to read. The cells need regard: `{INSTALL}`."
    first = text_cell(f"# {lesson.number}. {lesson.title}\n\n{introduction(lesson)}\n\n{about}")
    cells = [first, *(cell for block in lesson.blocks for cell in cells_of(block, lesson))]
    for number, cell in enumerate(cells):
        cell["id"] = f"{lesson.slug}-{number}"
    found = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "title": lesson.title,
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def cells_of(block: Block, lesson: Lesson) -> Iterator[Cell]:
    match block:
        case Listing(kind="console"):
            command, _, printed = block.text.partition("\n")
            yield code_cell(f"!{command.removeprefix('$ ')}", printed)
        case Listing(kind="python"):
            yield from session_cells(block.text)
        case QuotedCode():
            yield text_cell(f"`{block.file}`\n{fence(block.text, 'python')}")
        case Exercise():
            question, answer = question_and_answer(block, lesson)
            yield text_cell(question)
            yield code_cell(solution_begin(block))
            yield text_cell(folded(answer))
        case _:
            yield text_cell(block_markdown(block, lesson))


def text_cell(text: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": LINK.sub(_link, text)}


def _link(found: re.Match[str]) -> str:
    """Links to lessons lead to their notebooks; those into the repository's documentation become text."""
    if other := OTHER_LESSON.fullmatch(found[2]):
        return f"[{found[1]}]({other[1]}.ipynb)"
    return found[0] if found[2].startswith(("http://", "https://")) else found[1]


def code_cell(source: str, output: str = "", *, value: bool = False, raises: bool = False) -> Cell:
    """`value`: the output is that of the last expression, not printed."""
    outputs: list[dict[str, Any]] = []
    if value and output:
        data = {"text/plain": output}
        outputs = [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}]
    elif output:
        outputs = [{"output_type": "stream", "name": "stdout", "text": output}]
    tags = {"tags": ["raises-exception"]} if raises else {}
    return {"cell_type": "code", "metadata": tags, "source": source, "outputs": outputs, "execution_count": None}


def session_cells(text: str) -> Iterator[Cell]:
    """The examples of a session; a cell ends with each output, because a cell shows its last value alone."""
    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(text):
        lines.append(example.source.rstrip("\n"))
        if example.want:
            printed = example.exc_msg is not None or bool(re.match(r"(?:for|while|if|with|print\()", lines[-1]))
            wanted = example.want.rstrip("\n")
            yield code_cell("\n".join(lines), wanted, value=not printed, raises=example.exc_msg is not None)
            lines = []
    if lines:
        yield code_cell("\n".join(lines))


def solution_begin(exercise: Exercise) -> str:
    """The beginning of the cell in which an exercise is solved."""
    match exercise:
        case LineExercise():
            return f"{exercise.before.strip()}\n\n# your line:\n# {exercise.begin}".strip()
        case ChangeExercise():
            return f"text = {exercise.begin!r}  # change it"
        case _:
            return "# room for your own computation"
