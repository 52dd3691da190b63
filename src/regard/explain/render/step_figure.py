"""One query of one head as output: numbers as text and data, and a picture that builds up."""

from __future__ import annotations

from regard.explain.render.step_drawing import step_drawing
from regard.explain.render.text import step_text
from regard.explain.step import StepNumbers, as_dict
from regard.explain.terms import Array
from regard.report.animation import animation_rules
from regard.report.deliver import Output
from regard.report.drawing import Drawing, framed
from regard.report.json import rounded
from regard.report.page import page, picture


def step_output(step: StepNumbers, every: Array | None = None) -> Output:
    def drawing() -> Drawing:
        return framed(step_drawing(step, every))

    def whole_page() -> str:
        drawn = drawing()
        return page(drawn.title, picture(drawn), animation_rules(drawn.frames))

    return Output(
        text=lambda: step_text(step),
        data=lambda: rounded(as_dict(step)),
        page=whole_page,
        drawing=drawing,
    )
