"""The lessons of the course as the page reads them: a list, and each with its blocks. Texts are HTML.

`course` of the settings is the folder of a learner who started the server with `regard course`; without it the server
keeps no progress and runs nothing of a learner's.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio.to_thread

from regard.course.lessons.exercises import Exercise
from regard.course.lessons.lesson import Block, Guess, Lesson, Listing, LiveView, Prose, QuotedCode
from regard.course.lessons.load import lesson, lessons
from regard.course.lessons.progress import read_progress, write_progress
from regard.course.lessons.to_html import inline_html, to_html
from regard.device import has_torch
from regard.errors import InputError
from regard.serve.api.api_common import OWN
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.errors import ServeError
from regard.serve.http.fields import Field
from regard.serve.settings import ServeConfig

LESSONS_DONE = Field(
    "lessons", "object", "by the number of a lesson: whether it is done, and its solved exercises",
    example={"4": {"done": True, "exercises": ["weights"]}},
)  # fmt: skip


async def all_lessons(call: Call) -> dict[str, Any]:
    return {"lessons": [contents_of(one) for one in lessons()], "can": abilities(call.services.config)}


async def one_lesson(call: Call) -> dict[str, Any]:
    return lesson_answer(numbered_lesson(call))


def learner_folder(config: ServeConfig) -> Path:
    if config.course is None:
        raise ServeError(403, "this server keeps no progress; start it with: regard course 1")
    return Path(config.course)


async def get_progress(call: Call) -> dict[str, Any]:
    return await anyio.to_thread.run_sync(read_progress, learner_folder(call.services.config))


async def put_progress(call: Call) -> dict[str, Any]:
    folder = learner_folder(call.services.config)
    try:
        return await anyio.to_thread.run_sync(write_progress, folder, {"lessons": call["lessons"]})
    except (AttributeError, TypeError):
        raise ServeError(400, 'lessons must be like {"4": {"done": true, "exercises": ["weights"]}}') from None


def numbered_lesson(call: Call) -> Lesson:
    """The lesson that the path of a request names."""
    named = call.request.path_params["number"]
    try:
        return lesson(int(named) if re.fullmatch("[0-9]{1,3}", named) else 0)
    except InputError:
        raise ServeError(404, f'there are lessons 1 to {len(lessons())}, but not "{named}"') from None


def abilities(config: ServeConfig) -> dict[str, bool]:
    """What this server does for a learner: `live`: views that compute with PyTorch; the others only `regard course`."""
    learner = config.course is not None
    return {"line": learner, "learn": learner and has_torch(), "progress": learner, "live": has_torch()}


def contents_of(one: Lesson) -> dict[str, Any]:
    return {
        "number": one.number, "slug": one.slug, "title": one.title, "summary": inline_html(one.summary),
        "minutes": one.minutes, "objectives": [inline_html(text) for text in one.objectives],
        "exercises": [exercise.id for exercise in one.exercises],
    }  # fmt: skip


def lesson_answer(one: Lesson) -> dict[str, Any]:
    blocks = [block_answer(block) for block in one.blocks]
    return contents_of(one) | {"start": dict(one.start), "notes": one.notes, "blocks": blocks}


def block_answer(block: Block) -> dict[str, Any]:
    match block:
        case Prose():
            return {"kind": "html", "html": to_html(block.text)}
        case Guess():
            return {
                "kind": "guess", "question": to_html(block.question), "choices": [*map(inline_html, block.choices)],
                "right": block.right, "answer": to_html(block.answer),
            }  # fmt: skip
        case LiveView():
            return asdict(block) | {"kind": "view", "caption": to_html(block.caption)}
        case QuotedCode():
            return asdict(block) | {"kind": "code"}
        case Listing():
            return asdict(block)
        case Exercise():
            return exercise_answer(block)


def exercise_answer(exercise: Exercise) -> dict[str, Any]:
    """Everything but what tells the right answer before the reader has tried; the worked answer is folded away."""
    own = vars(exercise)
    return {
        "kind": "exercise", "id": exercise.id, "type": exercise.kind, "question": to_html(exercise.question),
        "choices": [inline_html(one.text) for one in own.get("choices", ())],
        "several": own.get("several", False), "before": own.get("before", ""), "begin": own.get("begin", ""),
        "answer": to_html(exercise.answer), "source": exercise.source,
    }  # fmt: skip


ENDPOINTS = (
    Endpoint("GET", "/api/lessons", OWN, "The lessons of the course", all_lessons, public=True),
    Endpoint("GET", "/api/lessons/{number}", OWN, "A lesson, block by block", one_lesson, public=True),
    Endpoint("GET", "/api/progress", OWN, "What the learner has done; only under regard course", get_progress),
    Endpoint("PUT", "/api/progress", OWN, "Replace what the learner has done", put_progress, (LESSONS_DONE,)),
)
