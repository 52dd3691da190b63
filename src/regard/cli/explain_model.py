"""`regard explain model`: a model drawn from its modules.

Registered by `cli/explain.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.explain_common import show_sentences
from regard.cli.options import Device, FlagTable, Font, SentenceNumber, Target
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.explain.diagram import ModelDiagram

FLAGS = FlagTable("""
--model FOLDER            A model, or a run, or the name of a bundled one; several are an ensemble.
                          [default: the bundled one]
--architecture NAME       An architecture instead, drawn by its sizes without weights; several are an ensemble.
--preset NAME             The sizes of the architecture. [default: small]
--vocab-size N 1..        Entries of the vocabulary of an architecture. [default: 8000]
--out FILE                A .svg, .html, .md, .json, .png, .pdf or .txt. [default: the terminal]
""")
SUFFIXES = (".svg", ".html", ".md", ".json", ".png", ".pdf", ".txt")
Text = Annotated[
    str | None,
    typer.Argument(metavar="[TEXT]", help="The sentence that the model reads.  [default: The cat is sleeping.]"),
]


def model(
    text: Text = None,
    model: Annotated[list[Path] | None, FLAGS("--model")] = None,
    architecture: Annotated[list[str] | None, FLAGS("--architecture")] = None,
    preset: Annotated[str | None, FLAGS("--preset")] = None,
    vocab_size: Annotated[int | None, FLAGS("--vocab-size")] = None,
    sentence: SentenceNumber = None,
    target: Target = None,
    out: Annotated[Path | None, FLAGS("--out")] = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Draw a model from its modules.

    Boxes are the modules, in the order of the computation: each with the shape of what leaves it for this sentence, its
    parameters and its operations (a multiply-add counts as two). Their sums are those of the model. Equal layers are
    drawn once, with × N. Recurrent models are also unrolled over the words, convolutions drawn with what they reach,
    attention with its queries, keys, values and heads, and mixtures with their router.

    \b
      regard explain model --architecture transformer --preset base --out base.svg
      regard explain model "The black cat sleeps." --model en-fr-classic --out classic.svg
    """
    from regard.report.deliver import check_out, deliver

    check_out(out, SUFFIXES)
    if model and architecture:
        raise InputError("--model is trained and --architecture is not; give one or the other")
    if not architecture and (preset is not None or vocab_size is not None):
        flag = "--preset" if preset is not None else "--vocab-size"
        raise InputError(f"{flag} is for an architecture; add --architecture, such as --architecture transformer")
    from regard.explain import diagram
    from regard.explain.render.model_figure import model_output

    def show(found: ModelDiagram) -> None:
        deliver(model_output(found), out, font)

    if architecture:
        show(diagram.diagram_of_size(architecture, preset or "small", text or "", target or "", vocab_size or 8000))
        return
    from regard.translator import Translator

    translator = Translator.load(model[0] if model and len(model) == 1 else model, device)
    name = " + ".join(one.name for one in model) if model else ""
    sentence_of = text or diagram.EXAMPLE[0]

    def show_one(number: int) -> None:
        show(diagram.diagram_of(translator, sentence_of, target, sentence=number, name=name))

    show_sentences(translator, sentence_of, sentence, show_one, out=out, target=target)
