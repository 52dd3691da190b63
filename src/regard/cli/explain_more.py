"""`regard explain lattice`, `step` and `positions`: a search, one look in numbers, and how places are told.

Registered by `cli/explain.py`. Layers, heads and positions count from 1 here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Beam, Device, Font, Model, Picture, Sentence, number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.translator import Translator


def lattice(
    text: Sentence,
    model: Model = None,
    beam: Beam = None,
    length_penalty: Annotated[
        float | None,
        typer.Option(
            parser=number("--length-penalty", float),
            metavar="X",
            help="α of ((5 + length) / 6)^α.  [default: the model's]",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write: .svg, .html, .png, .json, .dot or .txt.  [default: the terminal]"
        ),
    ] = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Show a beam search: every continuation it weighed, and why it was kept or given up.

    At each step the search weighs the 2 × beam best continuations of the hypotheses it holds. The best that do not end
    go on, as many as the beam is wide; those that end are ranked by log P / ((5 + length) / 6)^α. A picture shows steps
    from left to right, the way to the best translation bold; hover over a box to read why it was given up.

      regard explain lattice "The black cat sleeps." --beam 4

      regard explain lattice "The black cat sleeps." --beam 4 --out cat.svg
    """
    from regard.report.deliver import PICTURES, Output, check_out, deliver
    from regard.report.json import rounded
    from regard.report.page import page, picture

    check_out(out, (*PICTURES, ".dot"))
    translator = _one_model(model, device)
    _check_sentence(translator, text)
    from regard.explain import lattice as search
    from regard.explain.render.lattice_dot import lattice_dot
    from regard.explain.render.lattice_drawing import lattice_drawing
    from regard.explain.render.lattice_text import lattice_text

    found = search.lattice(translator.bundle, text, beam, length_penalty)

    def whole_page() -> str:
        drawn = lattice_drawing(found)
        return page(drawn.title, picture(drawn))

    output = Output(
        text=lambda: lattice_text(found),
        data=lambda: rounded(search.as_dict(found)),
        page=whole_page,
        drawing=lambda: lattice_drawing(found),
        dot=lambda: lattice_dot(found),
    )
    deliver(output, out, font)


def step(
    text: Sentence,
    position: Annotated[
        int,
        typer.Option(
            parser=number("--position", int),
            metavar="N",
            help="Which target token is predicted, from 1; the last one is the end. With --kind encoder: which source "
            "token looks.",
        ),
    ] = 1,
    layer: Annotated[int, typer.Option(parser=number("--layer", int), metavar="N", help="From 1.")] = 1,
    head: Annotated[int, typer.Option(parser=number("--head", int), metavar="N", help="From 1.")] = 1,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="cross (target looks at source), encoder (source at itself) or decoder (target at the words before).",
        ),
    ] = "cross",
    target: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="A translation to force, instead of the one that the model finds."),
    ] = None,
    model: Model = None,
    beam: Beam = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write: .json (every number) or .txt.  [default: the terminal]"),
    ] = None,
    device: Device = "auto",
) -> None:
    """Show one look of one head in numbers, from the hidden states to the output.

    For a Transformer q, k, q·k, ÷√d, mask, softmax, the weighted values, their sum and what W_O makes of it. For
    additive attention W₁h, W₂s, tanh, vᵀ; for other scores their own terms. The numbers are computed from the model's
    weights by the equation that is shown and held against what the model's forward pass had. Where they differ by more
    than 0.00001 nothing is shown. In the terminal vectors are cut to four numbers and their length.

      regard explain step "The black cat sleeps." --position 3 --layer 2 --head 1

      regard explain step "The black cat sleeps." --kind encoder --position 2 --out look.json
    """
    from regard.explain.grid import KINDS
    from regard.report.deliver import NUMBERS, Output, check_out, deliver
    from regard.report.json import rounded

    if kind not in KINDS:
        raise InputError(f'--kind must be {", ".join(KINDS)}, but is "{kind}"')
    check_out(out, NUMBERS)
    translator = _one_model(model, device)
    _check_sentence(translator, text)
    from regard.explain import step as steps
    from regard.explain.mechanisms import Query
    from regard.explain.render.step_text import step_text

    if target is None:
        ids = translator.translate([text], beam=beam)[0].candidates[0].ids
    else:
        ids = tuple(translator.tokenizer.encode_target([target])[0])
    chosen: Any = kind  # it was checked
    which = Query(chosen, layer - 1, head - 1, position - 1)
    found = steps.step_numbers(translator.bundle, text, ids, which)
    deliver(Output(text=lambda: step_text(found), data=lambda: rounded(steps.as_dict(found))), out)


def positions(
    width: Annotated[
        int | None,
        typer.Option(parser=number("--width", int), metavar="N", help="Numbers of a vector; even.  [default: 128]"),
    ] = None,
    length: Annotated[int, typer.Option(parser=number("--length", int), metavar="N", help="Places to look at.")] = 64,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="A Transformer whose width, words and learned positions to take.  [default: none]"
        ),
    ] = None,
    out: Picture = None,
    font: Font = None,
) -> None:
    """Show how places are told, and check what the notes require of it.

    The sinusoids as a map, binary counting beside them, products of two places against their distance (sinusoids,
    rotary, learned), and the notes' five requirements, each with a number for five ways to tell a place: counting, a
    fraction of the sentence, bits, sinusoids, a learned table. Where a claim of the notes holds and where not is said.

      regard explain positions

      regard explain positions --width 512 --length 100 --out requirements.svg
    """
    from regard.report.deliver import PICTURES, Output, check_out, deliver
    from regard.report.json import rounded
    from regard.report.page import page, picture

    check_out(out, PICTURES)
    from regard.course.positions import requirements
    from regard.course.positions.drawing import positions_drawing
    from regard.course.positions.text import positions_text

    if model is None:
        found = requirements.positions(128 if width is None else width, length)
    elif width is not None:
        raise InputError("--model has a width of its own; give --width or --model, not both")
    else:
        found = requirements.positions_of(_one_model(model, "cpu").bundle.model, length)
    output = Output(
        text=lambda: positions_text(found),
        data=lambda: rounded(requirements.as_dict(found)),
        page=lambda: page("Positions", picture(positions_drawing(found))),
        drawing=lambda: positions_drawing(found),
    )
    deliver(output, out, font)


# ------------------------------------------------------------------------------------------------ what all do


def _one_model(folder: Path | None, device: str) -> Translator:
    from regard.translator import Translator

    return Translator.load(folder, device)


def _check_sentence(translator: Translator, text: str) -> None:
    """One sentence that the model reads in one part."""
    if not text.strip():
        raise InputError("there is nothing to translate: the text is empty; give one sentence")
    (ids,) = translator.tokenizer.encode_source([text])
    if len(ids) >= translator.max_length:
        raise InputError(
            f"the text has {len(ids)} tokens, and this model reads fewer than {translator.max_length} at a time; "
            "give a shorter sentence"
        )
