"""`regard explain tokens`: byte-pair encoding step by step. Registered by `cli/explain.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Device, Sentence, number
from regard.errors import InputError


def tokens(
    text: Sentence,
    src: Annotated[
        Path | None,
        typer.Option("--src", metavar="FILE", help="Lines to learn merges from.  [default: the embedded corpus]"),
    ] = None,
    merges: Annotated[
        int | None,
        typer.Option(
            "--merges",
            parser=number("--merges", int, 1, 5000),
            metavar="N",
            help="How many merges are learnt.  [default: 200]",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FOLDER", help="Take a model's own merges instead.  [default: none]"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A .html, .json or .txt.  [default: the terminal]"),
    ] = None,
    device: Device = "cpu",
) -> None:
    """Show how a text becomes pieces, merge by merge.

    Byte-pair encoding starts from characters and merges the pair of neighbours that occurs most often, again and again.
    The merges are learnt here, from a file or from the embedded corpus, and each is shown with how often its pair
    occurred; then every word of the text is merged in the same order. ▁ stands for the space before a word. With
    --model the merges are the model's own, and the ids are what it reads.

    \b
      regard explain tokens "The black cat sleeps." --merges 50
      regard explain tokens "The black cat sleeps." --model en-fr-classic --out pieces.html
    """
    from regard.report.deliver import check_out, deliver

    check_out(out, (".html", ".json", ".txt"))
    from regard.explain.tokens import LINES, check_text, tokens_learnt, tokens_of_vocabulary, tokens_output

    if model is not None and (src is not None or merges is not None):
        raise InputError("--model has merges of its own; give --model, or --src and --merges")
    check_text(text)
    if model is not None:
        from regard.translator import Translator

        vocabulary = Translator.load(model, device).bundle.tokenizer.source
        found = tokens_of_vocabulary(text, vocabulary, f"those of the model {model}")
    elif src is not None:
        from regard.cli.lines import read_lines

        origin = f"learnt from the first {LINES:,} lines of {src}, or all there are"
        found = tokens_learnt(text, read_lines(src), merges or 200, origin)
    else:
        lines = _embedded()
        origin = f"learnt from {len(lines):,} English lines of the embedded corpus"
        found = tokens_learnt(text, lines, merges or 200, origin)
    deliver(tokens_output(found), out)


def _embedded() -> list[str]:
    from regard.course.grammar import generate

    return [example.src for example in generate(size=1000)["train"].examples]
