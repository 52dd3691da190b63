"""Shared code of the `regard explain` commands: loading the model, and showing one or all sentences of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from regard.cli.process import warn
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.translator import Translator


def load_translator(model: Path | None, device: str, out: Path | None, *more: str) -> Translator:
    """Load the translator after checking the suffix of `out`: an image, a page or numbers, or one of `more`."""
    from regard.report.deliver import PICTURES, check_out

    check_out(out, (*PICTURES, *more))
    from regard.translator import Translator

    return Translator.load(model, device)


def show_sentences(
    translator: Translator,
    text: str,
    sentence: int | None,
    show: Callable[[int], None],
    *,
    out: Path | None = None,
    target: str | None = None,
) -> None:
    """Call `show` with the index of each sentence, from 0; `sentence` counts from 1. If one of several sentences cannot
    be shown (it has no words, or not the given word), the reason is printed on standard error."""
    from regard.explain.sentence_pair import units_of

    count = units_of(translator, text)[-1].sentence + 1
    allowed = f"--sentence 1 to {count}"
    if sentence is not None and not 1 <= sentence <= count:
        raise InputError(f"--sentence counts from 1 to {count} in this text, but is {sentence}")
    if sentence is not None or count == 1:
        show((sentence or 1) - 1)
        return
    if out is not None:
        raise InputError(f"the text has {count} sentences, but a file shows one; choose it: {allowed}")
    if target is not None:
        raise InputError(f"--target translates one sentence, but the text has {count}; choose one: {allowed}")
    problems: list[InputError] = []
    for number in range(count):
        typer.echo(f"{'' if number == 0 else chr(10)}Sentence {number + 1} of {count}")
        try:
            show(number)
        except InputError as problem:
            problems.append(problem)
            warn(f"sentence {number + 1}: {problem}")
    if len(problems) == count:
        raise problems[0]


def check_single(translator: Translator, texts: Sequence[str]) -> None:
    """Raise InputError unless each text is one sentence."""
    from regard.explain.sentence_pair import units_of

    for text in texts:
        count = units_of(translator, text)[-1].sentence + 1
        if count > 1:
            raise InputError(f'"{text}" has {count} sentences; give each sentence as a text of its own')
