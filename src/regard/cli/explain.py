"""`regard explain`: what a model looked at, as a picture, a page, numbers or text. All of it is in `explain/`.

Layers and heads count from 1 here. What is written is chosen by the suffix of --out; without it the terminal shows it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.explain_evidence import evidence, importance, lab
from regard.cli.explain_more import lattice, positions, step
from regard.cli.options import Beam, Device, Font, Model, Picture, Sentence, Target, number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.explain.front import Explanation
    from regard.report.deliver import Output

app = typer.Typer(
    rich_markup_mode=None,
    help="Show what attention does, and say how far to trust it.\n\n"
    "Every map says its layer, its head, what a row means, and its alignment error rate (AER) or that it was not "
    "evaluated. A map is a hint, not a proof.\n\n"
    "One map between words, in the terminal, then as a picture and as a page with a table to walk in:\n\n"
    '  regard explain attention "The black cat sleeps."\n\n'
    '  regard explain attention "The black cat sleeps." --out cat.svg\n\n'
    '  regard explain attention "The black cat sleeps." --out cat.html\n\n'
    "All heads on one sheet, and one word head by head in two sentences:\n\n"
    '  regard explain heads "The black cat sleeps." --out heads.svg\n\n'
    '  regard explain arcs --word it "… because it was too tired." "… because it was too wide."',
)

Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="cross (target looks at source), encoder (source at itself) or decoder (target at the words before).",
    ),
]
Layer = Annotated[
    int | None,
    typer.Option(
        parser=number("--layer", int), metavar="N", help="From 1.  [default: the card's choice, else a plain one]"
    ),
]
Row = Annotated[
    str | None,
    typer.Option(
        metavar="MEANING",
        help="How a row of the decoder is read: predicting (it explains the word to come) or having-read (the last "
        "word read).  [default: the card's choice, else predicting]",
    ),
]
Subwords = Annotated[
    bool,
    typer.Option(
        "--subwords",
        help="Show the model's own tokens. Without it they are merged: weights to the parts of a word are summed, rows "
        "of its parts averaged. For scripts without spaces, where a line is one word, this is what to use.",
    ),
]


@app.command()
def attention(
    text: Sentence,
    model: Model = None,
    target: Target = None,
    beam: Beam = None,
    kind: Kind = "cross",
    layer: Layer = None,
    head: Annotated[
        int | None,
        typer.Option(
            parser=number("--head", int),
            metavar="N",
            help="From 1.  [default: the card's choice, else the mean of all]",
        ),
    ] = None,
    row: Row = None,
    subwords: Subwords = False,
    specials: Annotated[
        bool, typer.Option("--specials", help="With --subwords: show EOS, BOS and a tag, too, not their mass.")
    ] = False,
    arrows: Annotated[
        bool,
        typer.Option(
            "--arrows",
            help="Each word and what it looked at most, not a heat map; in a picture, ribbons between words.",
        ),
    ] = False,
    out: Picture = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Draw one attention map as a heat map.

    Rows are the words that look, columns the words that are looked at; a row sums to 1, or it is not drawn. What went
    to the end of the sentence (EOS) is not a word: it is hidden, and its mass stated. In a terminal without colours, or
    with NO_COLOR set, digits are tenths.

      regard explain attention "The black cat sleeps."

      regard explain attention "The black cat sleeps." --kind encoder --layer 2 --head 1 --out cat.html
    """
    if specials and not subwords:
        raise InputError("--specials shows tokens that are no words; add --subwords")
    found = _explained([text], model, target, beam, kind, row, out, device)[0]
    from regard.explain.render.figure import map_output

    grid = found.grid(
        _any(kind), _from_one("--layer", layer), _from_one("--head", head), _any(row), words=not subwords,
        specials=specials,
    )  # fmt: skip
    _deliver([found], map_output(grid, not arrows, _pairs([found])), out, font)


@app.command()
def heads(
    text: Sentence,
    model: Model = None,
    target: Target = None,
    beam: Beam = None,
    kind: Kind = "cross",
    row: Row = None,
    subwords: Subwords = False,
    out: Picture = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Draw every layer and head on one sheet.

    Each small map has its entropy in bits (0: it looks at one place), the mass that went to no word, and its AER where
    the model's card knows it. The terminal shows the numbers alone.

      regard explain heads "The black cat sleeps." --out heads.svg
    """
    found = _explained([text], model, target, beam, kind, row, out, device)[0]
    from regard.explain.render.figure import sheet_output

    sheet = found.sheet(_any(kind), _any(row), words=not subwords)
    _deliver([found], sheet_output(sheet, _pairs([found])), out, font)


@app.command()
def arcs(
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT", help="One sentence, or several to see the word in each of them.")
    ],
    word: Annotated[
        str,
        typer.Option(
            "--word", metavar="WORD", help="The word; the:2 is the second “the”, and a number counts words from 1."
        ),
    ],
    model: Model = None,
    target: Target = None,
    beam: Beam = None,
    kind: Kind = "encoder",
    layer: Layer = None,
    heads: Annotated[
        str | None, typer.Option(metavar="N,N,…", help="Heads of the layer, from 1.  [default: all]")
    ] = None,
    side: Annotated[
        str,
        typer.Option(
            "--side", metavar="SIDE", help="Of --kind cross: whether the word is in the source or in the target."
        ),
    ] = "target",
    row: Row = None,
    out: Picture = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Draw what one word looks at, and what looks at it, head by head.

    regard explain arcs --word it "The animal did not cross the street because it was too tired."

    regard explain arcs --word it --layer 2 --out it.svg "… it was too tired." "… it was too wide."
    """
    if side not in ("source", "target"):
        raise InputError(f'--side must be source or target, but is "{side}"')
    if target is not None and len(text) > 1:
        raise InputError(f"--target is one translation, but there are {len(text)} sentences; give one sentence")
    found = _explained(text, model, target, beam, kind, row, out, device)
    from regard.explain.render.figure import arcs_output

    views = (_any(kind), _from_one("--layer", layer), _numbers(heads), _any(side), _any(row))
    _deliver(found, arcs_output([each.arcs(word, *views) for each in found], _pairs(found)), out, font)


for command in (lattice, step, positions, evidence, importance, lab):
    app.command()(command)


# ------------------------------------------------------------------------------------------------ what all do


def _explained(
    texts: list[str],
    model: Path | None,
    target: str | None,
    beam: int | None,
    kind: str,
    row: str | None,
    out: Path | None,
    device: str,
) -> list[Explanation]:
    """Everything cheap is checked before a model is read."""
    from regard.explain.attention import ROW_MEANINGS
    from regard.explain.grid import KINDS
    from regard.report.deliver import PICTURES, check_out

    if kind not in KINDS:
        raise InputError(f'--kind must be {", ".join(KINDS)}, but is "{kind}"')
    if row is not None and row not in ROW_MEANINGS:
        raise InputError(f'--row must be {" or ".join(ROW_MEANINGS)}, but is "{row}"')
    check_out(out, PICTURES)
    from regard.explain.front import explain
    from regard.translator import Translator

    translator = Translator.load(model, device)
    return [explain(translator, text, target, beam=beam) for text in texts]


def _pairs(found: list[Explanation]) -> str:
    """The title of a page."""
    return " / ".join(f"{each.capture.source} → {each.capture.target}" for each in found)


def _deliver(found: list[Explanation], output: Output, out: Path | None, font: Path | None) -> None:
    from regard.report.deliver import deliver

    deliver(output, out, font, above="\n".join(each.capture.target for each in found))


def _from_one(flag: str, value: int | None) -> int | None:
    """Counted from 1 by people and from 0 inside."""
    if value is not None and value < 1:
        raise InputError(f"{flag} counts from 1, but is {value}")
    return None if value is None else value - 1


def _numbers(heads: str | None) -> list[int] | None:
    if heads is None:
        return None
    given = [part.strip() for part in heads.split(",")]
    if not all(part.isdecimal() and int(part) >= 1 for part in given):
        raise InputError(f'--heads must be numbers from 1 with commas, such as 1,3, but is "{heads}"')
    return list(dict.fromkeys(int(part) - 1 for part in given))


def _any(word: str | None) -> Any:
    """A word that was checked already, for a function that takes some words only."""
    return word
