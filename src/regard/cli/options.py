"""Declaration of flags: flag tables, numbers with bounds, the flags that several commands share, and those that are
made from the options of `Translator.translate` (`translation/options.py`).

A flag has one meaning in all commands; docs/commands.md lists the meanings, and tests/cli/test_flags.py tests it.
Choices are `Literal` types here, because the modules that use them are slow to import; mypy checks that they agree.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from regard.bundle import bundled_models
from regard.config import OptionSpec, describe, options_of, parse
from regard.errors import InputError
from regard.search.options import Mbr, Sampling
from regard.translation.options import TranslateOptions, translate_option


def number(flag: str, kind: type, least: float | None = None, most: float | None = None) -> Callable[[Any], Any]:
    """A parser of the value of `flag`; it raises InputError if the value is not a number within the bounds."""
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


class FlagTable:
    """The flags of a command, written as on its help page; `table("--workers")` is the `typer.Option` of one.

    A row is the flag with its other names, its metavar and the bounds of a number, then two spaces and the help text,
    which further lines continue. The metavar N is a whole number and X any number; switches and choices have none.

    >>> table = FlagTable("--workers N 1..256  Processes that translate in parallel.")
    >>> table("--workers").help
    'Processes that translate in parallel.'
    """

    def __init__(self, rows: str) -> None:
        self.rows = {re.findall(r"--[\w-]+", row)[0]: row for row in re.split(r"\n(?=-)", rows.strip())}

    def __call__(self, name: str, parser: Callable[[Any], Any] | None = None) -> Any:
        head, _, text = self.rows[name].partition("  ")
        words = head.split()
        names = [word for word in words if word.startswith("-")]
        metavar, bounds = ([*words[len(names) :], "", ""])[:2]
        if metavar in ("N", "X"):
            least, _, most = bounds.partition("..")
            limits = (float(limit) if limit else None for limit in (least, most))
            parser = number(name, int if metavar == "N" else float, *limits)
        help = " ".join(text.split()).replace(" [default:", "  [default:")
        return typer.Option(*names, metavar=metavar or None, parser=parser, help=help)


class NumberList(tuple[Any, ...]):
    """Several numbers as one value of a flag; typer would read a plain tuple as several values."""


def numbers(flag: str, kind: type, least: float | None = None, most: float | None = None) -> Callable[[Any], Any]:
    """A parser of several numbers separated by commas: "64,128,256" → (64, 128, 256)."""

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


SHARED = FlagTable(f"""
--sentence N 1..   Which sentence of the text, counted from 1.  [default: all, one after another]
--model FOLDER     A model, or a run (its best model), or the name of a bundled model or of one of OPUS-MT.
                   [default: {bundled_models.DEFAULT}, bundled]
--target TEXT      A translation to force, instead of the one the model finds.
--out FILE         A .svg, .html, .json, .png, .pdf or .txt.  [default: the terminal]
--font FILE        A .ttf (or .otf for a .png) with letters that are not Latin.
--device NAME      Where to compute: auto, cuda, cuda:1, …, mps or cpu.
--engine           Search engine: native (torch), ctranslate2 (fast on CPUs), or the faster of those that are available
                   (auto; regard export prepares a model for it).
--tokenize NAME    BLEU's tokenizer: 13a, intl, char, zh, none, …
--json             Print JSON.
--kind             Which attention: cross (target to source), encoder (source to itself) or decoder (target to the words
                   before).
--row              Which word a row of the decoder belongs to: the word that is predicted, or the word read last.
                   [default: the card's choice, else predicting]
--how              What a cut head does: zero (it adds nothing) or uniform (it attends to all positions equally).
                   [default: zero; uniform for recurrent models]
""")
Sentence = Annotated[
    str,
    typer.Argument(metavar="TEXT", help='A sentence, or a text of several. Write -- before one that starts with "-".'),
]
SentenceNumber = Annotated[int | None, SHARED("--sentence")]
Model = Annotated[Path | None, SHARED("--model")]
Target = Annotated[str | None, SHARED("--target")]
Picture = Annotated[Path | None, SHARED("--out")]
Numbers = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="A .json or .txt.  [default: the terminal]")
]
Font = Annotated[Path | None, SHARED("--font")]
Device = Annotated[str, SHARED("--device")]
Engine = Annotated[Literal["auto", "native", "ctranslate2"], SHARED("--engine")]
Tokenize = Annotated[str, SHARED("--tokenize")]
Json = Annotated[bool, SHARED("--json")]
Kind = Annotated[Literal["cross", "encoder", "decoder"], SHARED("--kind")]
Row = Annotated[Literal["predicting", "having-read"] | None, SHARED("--row")]
How = Annotated[Literal["zero", "uniform"] | None, SHARED("--how")]


# ------------------------------------------------------------------------------- options of `translate` as flags

METAVARS = {int: "N", float: "X", str: "TEXT"}


def option_flag(option: OptionSpec, name: str = "", help: str = "{}") -> Any:
    """An option of `translate` as a `typer.Option`. The help states the default; the parameter is None if not given."""
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


NO_FLAG = ("precision", "marks")  # --strict and --lenient set the latter


def parameter(option: OptionSpec, name: str = "", help: str = "{}") -> inspect.Parameter:
    """An option as a parameter for typer; None if the flag is not given."""
    kind: Any = Literal[option.choices] if option.choices else option.kind
    annotation = Annotated[kind | None, option_flag(option, name, help)]
    return inspect.Parameter(name or option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def translate_flags() -> list[inspect.Parameter]:
    """A flag for each option of `translate`, of sampling and of minimum Bayes risk."""
    found = [parameter(option) for name, option in options_of(TranslateOptions).items() if name not in NO_FLAG]
    found += [parameter(option, help="With --sample: {}") for option in options_of(Sampling).values()]
    samples, utility = options_of(Mbr).values()
    found += [parameter(samples._replace(default=None), "mbr", "Minimum Bayes risk: {}")]
    return [*found, parameter(utility, help="With --mbr: {}")]


def takes_translate_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with a flag for each option of `translate` in place of its parameter `options`."""
    flags = translate_flags()
    names = [one.name for one in flags]
    signature = inspect.signature(command, eval_str=True)
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in signature.parameters.values()]
    at = list(signature.parameters).index("options")

    @wraps(command)
    def run(**given: Any) -> None:
        options = {name: value for name in names if (value := given.pop(name)) is not None}
        command(**given, options=options)

    parameters[at : at + 1] = flags
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def translate_options(given: dict[str, Any], sample: bool) -> dict[str, Any]:
    """Every option of `Translator.translate` that a command can set, from the given flags."""
    drawn = "--sample" if sample else "--mbr" if "mbr" in given else None
    if drawn and "beam" in given:
        raise InputError(f"{drawn} draws and --beam searches; give one or the other")
    sampling = {name: given.pop(name) for name in options_of(Sampling) if name in given}
    if sampling and not drawn:
        raise InputError(f"--{next(iter(sampling)).replace('_', '-')} is for drawn translations; add --sample")
    if "utility" in given and "mbr" not in given:
        raise InputError("--utility is of minimum Bayes risk; add --mbr 32")
    if "diversity" in given and given.get("groups", 1) == 1:
        raise InputError("--diversity is of a beam in groups; add --groups 2")
    utility = given.pop("utility", "chrf")
    mbr = Mbr(given.pop("mbr"), utility) if "mbr" in given else None
    options = TranslateOptions(**given, sampling=Sampling(**sampling) if drawn else None, mbr=mbr)
    return {name: value for name, value in vars(options).items() if name not in ("precision", "progress")}


Beam = Annotated[int | None, option_flag(translate_option("beam"))]
LengthPenalty = Annotated[float | None, option_flag(translate_option("length_penalty"))]
Guard = Annotated[bool, option_flag(translate_option("guard"))]
