"""`regard explain`: the attention of a model, as an image, a page, numbers or text.

Layers and heads count from 1 in flags. The suffix of --out chooses the form; without it the terminal shows text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.explain_common import check_single, load_translator, show_sentences
from regard.cli.explain_evidence import evidence, importance, lab
from regard.cli.explain_model import model as explain_model
from regard.cli.explain_more import check_numbers, lattice, positions, step, tokens
from regard.cli.options import (
    Beam,
    Device,
    FlagTable,
    Font,
    Kind,
    Model,
    Picture,
    Row,
    Sentence,
    SentenceNumber,
    Target,
)
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.explain.explanation import Explanation
    from regard.report.deliver import Output

FLAGS = FlagTable("""
--layer N 1..   A layer, counted from 1. [default: the card's choice, else the last]
--subwords      Show the model's own tokens. Without it they are merged: weights to the parts of a word are summed, rows
                of its parts averaged. For scripts without spaces, where a line is one word, this is what to use.
--head N 1..    A head, counted from 1. [default: the card's choice, else the mean of all]
--specials      With --subwords: show EOS, BOS and a tag as tokens.
--arrows        Show for each word the words with the most weight, not a heat map; in a picture, ribbons.
--word WORD     The word; the:2 is the second “the”, and a number counts words from 1.
--side          Of --kind cross: whether the word is in the source or in the target.
""")
ARCS_FLAGS = FlagTable("--head N 1..  A head of the layer, counted from 1; can be given several times. [default: all]")

app = typer.Typer(
    rich_markup_mode=None,
    help="""Show what attention does, and say how far to trust it.

    Every map states its layer, its head, what a row means, and its alignment error rate (AER) or that it was not
    measured. A map is a hint, not a proof. In the terminal it is text; a file's suffix chooses a picture, a page or
    numbers.

    \b
      regard explain attention "The black cat sleeps."
      regard explain heads "The black cat sleeps." --out heads.svg
      regard explain model --architecture transformer --preset base --out base.svg
    """,
)

Layer = Annotated[int | None, FLAGS("--layer")]
Subwords = Annotated[bool, FLAGS("--subwords")]


@app.command()
def attention(
    text: Sentence,
    model: Model = None,
    sentence: SentenceNumber = None,
    target: Target = None,
    beam: Beam = None,
    kind: Kind = "cross",
    layer: Layer = None,
    head: Annotated[int | None, FLAGS("--head")] = None,
    row: Row = None,
    subwords: Subwords = False,
    specials: Annotated[bool, FLAGS("--specials")] = False,
    arrows: Annotated[bool, FLAGS("--arrows")] = False,
    out: Picture = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Draw one attention map as a heat map.

    Rows are the words that attend, columns the words they attend to; a row sums to 1, or it is not drawn. The end of
    the sentence (EOS) is not a word: it is hidden, and its weight stated. In a terminal without colours, or with
    NO_COLOR set, digits are tenths.

    \b
      regard explain attention "The black cat sleeps."
      regard explain attention "The black cat sleeps." --kind encoder --layer 2 --head 1 --out cat.html
    """
    if specials and not subwords:
        raise InputError("--specials shows tokens that are no words; add --subwords")
    translator = load_translator(model, device, out)
    from regard.explain.render.figure import map_output

    def show(number: int) -> None:
        found = translator.explain(text, target, sentence=number, beam=beam)
        check_numbers(found.trace, kind, layer, head)
        grid = found.grid(kind, from_zero(layer), from_zero(head), row, words=not subwords, specials=specials)
        _deliver([found], map_output(grid, not arrows, _pairs([found])), out, font)

    show_sentences(translator, text, sentence, show, out=out, target=target)


@app.command()
def heads(
    text: Sentence,
    model: Model = None,
    sentence: SentenceNumber = None,
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

    Each small map has its entropy in bits (0: all weight at one position), the weight that went to no word, and its AER
    where the model's card has it. The terminal shows the numbers alone.

    \b
      regard explain heads "The black cat sleeps."
      regard explain heads "The black cat sleeps." --kind encoder --out heads.svg
    """
    translator = load_translator(model, device, out)
    from regard.explain.render.figure import sheet_output

    def show(number: int) -> None:
        found = translator.explain(text, target, sentence=number, beam=beam)
        _deliver([found], sheet_output(found.sheet(kind, row, words=not subwords), _pairs([found])), out, font)

    show_sentences(translator, text, sentence, show, out=out, target=target)


@app.command()
def arcs(
    text: Annotated[
        list[str],
        typer.Argument(metavar="TEXT", help="A text, or several of one sentence each to see the word in all of them."),
    ],
    word: Annotated[str, FLAGS("--word")],
    model: Model = None,
    sentence: SentenceNumber = None,
    target: Target = None,
    beam: Beam = None,
    kind: Kind = "encoder",
    layer: Layer = None,
    head: Annotated[list[int] | None, ARCS_FLAGS("--head")] = None,
    side: Annotated[Literal["source", "target"], FLAGS("--side")] = "target",
    row: Row = None,
    out: Picture = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Draw what one word attends to, and what attends to it.

    Arcs are shown head by head, for one sentence or for several.

    \b
      regard explain arcs --word it "The animal did not cross the street because it was too tired."
      regard explain arcs --word sleeps --layer 2 --head 1 "The black cat sleeps." "The cat sleeps." --out cats.svg
    """
    if target is not None and len(text) > 1:
        raise InputError(f"--target is one translation, but there are {len(text)} sentences; give one sentence")
    if sentence is not None and len(text) > 1:
        raise InputError(f"--sentence is of one text, but there are {len(text)}; give one text")
    translator = load_translator(model, device, out)
    from regard.explain.render.figure import arcs_output

    chosen = None if head is None else [one - 1 for one in dict.fromkeys(head)]

    def draw(found: list[Explanation]) -> None:
        check_numbers(found[0].trace, kind, layer, max(head) if head else None)
        drawn = [each.arcs(word, kind, from_zero(layer), chosen, side, row) for each in found]
        _deliver(found, arcs_output(drawn, _pairs(found)), out, font)

    def show(number: int) -> None:
        draw([translator.explain(text[0], target, sentence=number, beam=beam)])

    if len(text) == 1:
        show_sentences(translator, text[0], sentence, show, out=out, target=target)
    else:
        check_single(translator, text)
        draw([translator.explain(one, beam=beam) for one in text])


app.command("model")(explain_model)
for command in (lattice, step, positions, tokens, evidence, importance, lab):
    app.command()(command)


def _pairs(found: list[Explanation]) -> str:
    """The title of a page: each text with its translation."""
    return " / ".join(f"{each.text} → {each.translation}" for each in found)


def _deliver(found: list[Explanation], output: Output, out: Path | None, font: Path | None) -> None:
    from regard.report.deliver import deliver

    deliver(output, out, font, above="\n".join(each.translation for each in found))


def from_zero(value: int | None) -> int | None:
    """Convert a layer or head of a flag, counted from 1, to the library's index, counted from 0."""
    return None if value is None else value - 1
