"""The endpoint that checks the answer to an exercise of a lesson.

Most answers are checked at once. "Change the input until …" asks a model, like an explanation. A line of Python is run
only for the learner who started the server with `regard course`, one line at a time.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import anyio
import anyio.to_thread

from regard.course.lessons.check_answers import Result, check
from regard.course.lessons.exercises import ChangeExercise, Exercise, LineExercise
from regard.course.lessons.to_html import to_html
from regard.serve.api.api_common import OWN
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.api.own.lessons import abilities, numbered_lesson
from regard.serve.errors import ServeError
from regard.serve.explain_service import ExplainedModel
from regard.serve.http.fields import Field

EXERCISE = Field("exercise", "text", "the id of the exercise", least=1, most=100, example="weights")
GIVEN = Field(
    "given", "value", "the answer: a number, a list of numbers or a text with them; the places of choices, from 1; a "
    "text; a line of Python", most=500, example="0.65",
)  # fmt: skip


@cache
def one_line() -> anyio.CapacityLimiter:
    """Lines of Python run one after another."""
    return anyio.CapacityLimiter(1)


async def check_answer(call: Call) -> dict[str, Any]:
    exercise = found_exercise(call)
    work = partial(check, exercise, call["given"])
    if isinstance(exercise, LineExercise):
        if not abilities(call.services.config)["line"]:
            number = call.request.path_params["number"]
            raise ServeError(
                400, f"a line of Python is run only on the learner's own machine: regard course {number}", field="given"
            )
        result = await anyio.to_thread.run_sync(work, limiter=one_line(), abandon_on_cancel=True)
    elif isinstance(exercise, ChangeExercise) and exercise.asks_model:
        result = await asked(call, exercise)
    else:
        result = await anyio.to_thread.run_sync(work)
    return {"right": result.right, "message": to_html(result.message)}


def found_exercise(call: Call) -> Exercise:
    lesson = numbered_lesson(call)
    found = lesson.exercise(call["exercise"])
    if found is None:
        known = ", ".join(one.id for one in lesson.exercises) or "none"
        message = f'lesson {lesson.number} has no exercise "{call["exercise"]}"; there are: {known}'
        raise ServeError(404, message, field="exercise")
    return found


async def asked(call: Call, exercise: ChangeExercise) -> Result:
    """The result of an exercise that asks a model, in a thread of explanations."""
    services, model = call.services, exercise.model
    if model not in services.pool.models:
        raise ServeError(404, f"this exercise asks the model {model}, which this server does not have")

    def work(loaded: ExplainedModel) -> Result:
        return check(exercise, call["given"], loaded.translator)

    return await services.explain.run_by_engine(model, work)


ENDPOINTS = (
    Endpoint(
        "POST", "/api/lessons/{number}/check", OWN, "Whether an answer to an exercise is right, with a hint if not",
        check_answer, (EXERCISE, GIVEN), counted=("given",),
    ),
)  # fmt: skip
