"""A step of attention as a picture: its steps, its numbers, and that no label overlaps another one."""

from __future__ import annotations

import pytest

from explain.render.test_model_figure import check
from regard.explain.diagram import piece_shown
from regard.explain.mechanisms import Query
from regard.explain.render.step_drawing import step_drawing, steps_of
from regard.explain.render.step_figure import step_output
from regard.explain.step import StepNumbers, self_attention_outputs, step_numbers
from regard.report.drawing import framed
from regard.report.render import svg
from regard.translator import Translator


def numbers(translator: Translator, query: Query) -> StepNumbers:
    return step_numbers(translator.bundle, "the cat sleeps .", [5, 6, 7], query)


def test_ten_steps_from_the_words_to_their_new_vectors(translator: Translator) -> None:
    query = Query("encoder", 0, 1, 2)
    found = numbers(translator, query)
    assert [[term.name for term in group] for group in steps_of(found.numbers.terms)] == [
        ["x", "m"], ["q"], ["k"], ["q·k"], ["÷√d", "mask"], ["α"], ["v"], ["αv", "c"], ["W_O c", "output"],
    ]  # fmt: skip
    every = self_attention_outputs(translator.bundle, "the cat sleeps .", [5, 6, 7], query)
    assert every is not None
    assert every[2] == pytest.approx(found.numbers.term("output"))
    drawing = step_drawing(found, every)
    assert max(drawing.frames) == 10
    assert min(drawing.frames) == -10


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_labels_stay_apart_and_weights_are_written(translator: Translator, kind: str) -> None:
    found = numbers(translator, Query(kind, 0, 0, 1))  # type: ignore[arg-type]
    drawing = framed(step_drawing(found))
    check(drawing)
    texts = [label.text for label in drawing.labels]
    for weight in found.numbers.term("α"):
        assert f"{weight:.2f}" in texts


def test_the_column_of_the_decoder_is_the_word_that_it_has_read(translator: Translator) -> None:
    drawing = step_drawing(numbers(translator, Query("decoder", 0, 0, 2)))
    labels, texts = tuple(translator.bundle.tokenizer.target.labels([5, 6, 7])), [one.text for one in drawing.labels]
    assert texts[0] == piece_shown(labels[1])  # position 2 reads the second word
    assert f"after reading “{texts[0]}”" in drawing.title
    assert any(text.startswith("q·k / √") for text in texts)


def test_only_self_attention_of_the_encoder_has_the_vectors_of_every_word(translator: Translator) -> None:
    assert self_attention_outputs(translator.bundle, "the cat sleeps .", [5], Query("cross", 0, 0, 0)) is None


def test_the_page_moves_like_the_file(translator: Translator) -> None:
    output = step_output(numbers(translator, Query()))
    assert output.drawing is not None
    assert output.page is not None
    assert "prefers-reduced-motion" in svg(output.drawing())
    assert "prefers-reduced-motion" in output.page()
