"""One query of one head as output: numbers as text and data, and a picture that builds up."""

from __future__ import annotations

from regard.explain.render.step_drawing import step_drawing
from regard.explain.render.text import step_text
from regard.explain.step import StepNumbers, as_dict
from regard.explain.terms import Array
from regard.report.deliver import Output
from regard.report.drawing import framed
from regard.report.json import rounded
from regard.report.page import drawing_page


def step_output(step: StepNumbers, every: Array | None = None) -> Output:
    return Output(
        text=lambda: step_text(step),
        data=lambda: rounded(as_dict(step)),
        page=lambda: drawing_page(framed(step_drawing(step, every))),
        drawing=lambda: framed(step_drawing(step, every)),
    )
