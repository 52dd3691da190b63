"""Flags that several commands share, each defined once, and the reader of a number with its bounds.

A flag has one meaning over all commands; docs/commands.md lists the meanings, and tests/cli/test_flags.py holds it.
Choices are `Literal` types here, because the modules that use them are slow to import; mypy compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from regard.bundle import bundled_models
from regard.config import Option, describe, parse
from regard.errors import InputError
from regard.translation.options import translate_option


def number(flag: str, kind: type, least: float | None = None, most: float | None = None) -> Callable[[Any], Any]:
    """A reader of one flag's value, with the same message for a mistake as a recipe has."""
    bounds = _bounds(least, most)

    def read(word: Any) -> Any:
        try:
            value = parse(str(word), kind)
        except ValueError:
            raise InputError(f'{flag} must be {describe(kind)}{bounds}, but is "{word}"') from None
        if (least is not None and value < least) or (most is not None and value > most):
            raise InputError(f"{flag} must be {describe(kind)}{bounds}, but is {word}")
        return value

    return read


def bounded(flag: str, kind: type, help: str, least: float | None = None, most: float | None = None) -> Any:
    """The option of a flag that takes one number within bounds."""
    return typer.Option(flag, parser=number(flag, kind, least, most), metavar="N" if kind is int else "X", help=help)


METAVARS = {int: "N", float: "X", str: "TEXT"}


def flag(option: Option, name: str = "", help: str = "{}") -> Any:
    """The flag of an option of `translate`. Its help names the default: the flag is None where it is not given."""
    word = "--" + (name or option.name).replace("_", "-")
    default = option.otherwise or (
        "" if option.default is None or isinstance(option.default, bool) else str(option.default)
    )
    text = help.format(option.help) + (f"  [default: {default}]" if default else "")
    if option.kind is bool:
        return typer.Option(f"{word}/--no-{word[2:]}" if option.default is not False else word, help=text)
    if option.choices:
        return typer.Option(word, help=text)
    parser = None if option.kind is str else number(word, option.kind, option.minimum, option.maximum)
    return typer.Option(word, parser=parser, metavar=METAVARS[option.kind], help=text)


def file_flag(flag: str, help: str) -> Any:
    """The option of a flag that takes the path of a file."""
    return typer.Option(flag, metavar="FILE", help=help)


class NumberList(tuple[Any, ...]):
    """Several numbers as one value of a flag: typer takes a plain tuple for several values."""


def numbers(flag: str, kind: type, least: float | None = None, most: float | None = None) -> Callable[[Any], Any]:
    """A reader of several numbers with commas between them: "64,128,256" → (64, 128, 256)."""

    def read(words: Any) -> Any:
        try:
            return NumberList(number(flag, kind, least, most)(word.strip()) for word in words.split(","))
        except InputError:
            kinds = describe(kind).removeprefix("a ") + "s"
            bounds = _bounds(least, most)
            raise InputError(f'{flag} must be {kinds}{bounds} with commas between them, but is "{words}"') from None

    return read


def _bounds(least: float | None, most: float | None) -> str:
    if most is not None:
        return f" from {least:,.10g} to {most:,.10g}"
    return f" of at least {least:,.10g}" if least is not None else ""


def subject(model: Path | None, flag: Path | None) -> Path | None:
    """The model of a command that takes it as an argument and as --model."""
    if model is not None and flag is not None:
        raise InputError(f"a model was given twice, as {model} and as --model {flag}; give it once")
    return model or flag


Sentence = Annotated[
    str,
    typer.Argument(metavar="TEXT", help='A sentence, or a text of several. Write -- before one that starts with "-".'),
]
SentenceNumber = Annotated[
    int | None,
    typer.Option(
        "--sentence",
        parser=number("--sentence", int, 1),
        metavar="N",
        help="Which sentence of the text, counted from 1.  [default: all, one after another]",
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FOLDER",
        help="A model, or a run (its best model), or the name of a model in the box or of OPUS-MT.  "
        f"[default: {bundled_models.DEFAULT}, in the box]",
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", metavar="TEXT", help="A translation to force, instead of the one the model finds."),
]
Beam = Annotated[int | None, flag(translate_option("beam"))]
LengthPenalty = Annotated[float | None, flag(translate_option("length_penalty"))]
Guard = Annotated[bool, flag(translate_option("guard"))]
Picture = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="A .svg, .html, .json, .png or .txt.  [default: the terminal]"),
]
Numbers = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="A .json or .txt.  [default: the terminal]")
]
Font = Annotated[
    Path | None,
    typer.Option("--font", metavar="FILE", help="A .ttf or .otf for a .png of letters that are not Latin."),
]
Device = Annotated[
    str, typer.Option("--device", metavar="NAME", help="Where to compute: auto, cuda, cuda:1, …, mps or cpu.")
]
Engine = Annotated[
    Literal["auto", "native", "ctranslate2"],
    typer.Option(
        "--engine",
        help="What searches: native (torch), ctranslate2 (fast on CPUs), or the faster of those that are at hand "
        "(auto; regard export makes a model ready for it).",
    ),
]
Tokenize = Annotated[
    str, typer.Option("--tokenize", metavar="NAME", help="BLEU's tokenizer: 13a, intl, char, zh, none, …")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

Kind = Annotated[
    Literal["cross", "encoder", "decoder"],
    typer.Option(
        "--kind",
        help="Which attention: cross (target to source), encoder (source to itself) or decoder (target to the words "
        "before).",
    ),
]
Row = Annotated[
    Literal["predicting", "having-read"] | None,
    typer.Option(
        "--row",
        help="Which word a row of the decoder belongs to: the word that is predicted, or the word read last.  "
        "[default: the card's choice, else predicting]",
    ),
]
How = Annotated[
    Literal["zero", "uniform"] | None,
    typer.Option(
        "--how",
        help="What a cut head does: zero (it adds nothing) or uniform (it attends to all positions equally).  "
        "[default: zero; uniform for recurrent models]",
    ),
]
