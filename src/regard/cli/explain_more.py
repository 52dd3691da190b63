"""`regard explain lattice`, `step`, `positions` and `tokens`: a search, an attention step, positions, byte-pair
encoding.

Registered by `cli/explain.py`. Layers, heads and positions count from 1 in flags.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from regard.cli.explain_common import load_translator, show_sentences
from regard.cli.options import (
    Beam,
    Device,
    FlagTable,
    Font,
    Guard,
    Kind,
    LengthPenalty,
    Model,
    Picture,
    Sentence,
    SentenceNumber,
    Target,
)
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.explain.trace import Kind, Trace


FLAGS = FlagTable("""
--out FILE           A .svg, .html, .png, .pdf, .json, .dot or .txt. [default: the terminal]
--position N 1..     The target token that is predicted, counted from 1; the last is EOS. With --kind encoder: the
                     source token that attends.
--layer N 1..        A layer, counted from 1.
--head N 1..         A head, counted from 1.
--width N 2..8192    Width of the vectors. [default: 128]
--length N           How many positions.
--model FOLDER       A Transformer, for its width, words and learned positions. [default: none]
--notes              Print the notes' own tables instead: p, p/50, bits, sinusoids of width 5.
--src FILE           Lines to learn merges from. [default: the embedded corpus]
--merges N 1..5000   How many merges are learnt. [default: 200]
""")
TOKENS_FLAGS = FlagTable("""
--model FOLDER   Take a model's own merges instead. [default: none]
--out FILE       A .html, .json or .txt. [default: the terminal]
""")


def lattice(
    text: Sentence,
    model: Model = None,
    sentence: SentenceNumber = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    guard: Guard = True,
    out: Annotated[Path | None, FLAGS("--out")] = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Show a beam search: what it considered, kept and dropped.

    At each step the search considers the 2 × beam best continuations of its hypotheses. The best that do not end are
    kept, as many as the beam is wide; those that end are ranked by log P / ((5 + length) / 6)^α. A picture shows steps
    from left to right, with the path to the best translation in bold; hover over a box to read why it was dropped. For
    a doubtful sentence that translate searches twice, the accepted search is shown; --no-guard shows the first.

    \b
      regard explain lattice "The black cat sleeps." --beam 4
      regard explain lattice "The black cat sleeps." --beam 4 --out cat.svg
    """
    translator = load_translator(model, device, out, ".dot")
    from regard.explain import lattice as search
    from regard.explain.render.lattice_drawing import lattice_drawing
    from regard.explain.render.text import lattice_dot, lattice_text
    from regard.report.deliver import Output, deliver
    from regard.report.json import rounded
    from regard.report.page import drawing_page

    def show(number: int) -> None:
        found = search.lattice(translator, text, beam, length_penalty, sentence=number, guard=guard)
        output = Output(
            text=lambda: lattice_text(found),
            data=lambda: rounded(search.as_dict(found)),
            page=lambda: drawing_page(lattice_drawing(found)),
            drawing=lambda: lattice_drawing(found),
            dot=lambda: lattice_dot(found),
        )
        deliver(output, out, font)

    show_sentences(translator, text, sentence, show, out=out)


def step(
    text: Sentence,
    position: Annotated[int, FLAGS("--position")] = 1,
    layer: Annotated[int, FLAGS("--layer")] = 1,
    head: Annotated[int, FLAGS("--head")] = 1,
    kind: Kind = "cross",
    sentence: SentenceNumber = None,
    target: Target = None,
    model: Model = None,
    beam: Beam = None,
    out: Picture = None,
    font: Font = None,
    device: Device = "auto",
) -> None:
    """Show one step of one head in numbers, or as a picture.

    For a Transformer q, k, q·k, ÷√d, mask, softmax, the weighted values, their sum and W_O times it. For additive
    attention W₁h, W₂s, tanh, vᵀ; for other scores their own terms. The numbers are computed from the model's weights by
    the equation that is shown and compared with the model's forward pass. Where they differ by more than 0.00001
    nothing is shown. In the terminal a vector is its first four numbers and its length. An .svg or .html builds up step
    by step, once; on paper, as .png or .pdf, and for readers who ask for less motion, it is one still figure.

    \b
      regard explain step "The black cat sleeps." --position 3 --layer 2 --head 1
      regard explain step "The cat is on the mat." --kind encoder --position 4 --out step.svg
    """
    translator = load_translator(model, device, out)
    from regard.explain import step as steps
    from regard.explain.mechanisms import Query
    from regard.explain.render.step_figure import step_output
    from regard.report.deliver import deliver

    query = Query(kind, layer - 1, head - 1, position - 1)

    def show(number: int) -> None:
        trace = translator.explain(text, target, sentence=number, beam=beam).trace
        check_numbers(trace, kind, layer, head, position)
        found = steps.step_numbers(translator.bundle, trace.read, trace.target_ids, query, trace.slots)
        every = steps.self_attention_outputs(translator.bundle, trace.read, trace.target_ids, query)
        deliver(step_output(found, every), out, font)

    show_sentences(translator, text, sentence, show, out=out, target=target)


def positions(
    width: Annotated[int | None, FLAGS("--width")] = None,
    length: Annotated[int, FLAGS("--length")] = 64,
    model: Annotated[Path | None, FLAGS("--model")] = None,
    notes: Annotated[bool, FLAGS("--notes")] = False,
    out: Picture = None,
    font: Font = None,
    device: Device = "cpu",
) -> None:
    """Show position encodings, and check what the notes require.

    The sinusoids as a map, binary counting beside them, products of two positions against their distance (sinusoids,
    rotary, learned), and the notes' five requirements, each with a number for five encodings: counting, a fraction of
    the sentence, bits, sinusoids, a learned table. If the width is odd, the last sine has no cosine.

    \b
      regard explain positions --notes
      regard explain positions --width 512 --length 100 --out positions.svg
    """
    from regard.report.deliver import PICTURES, Output, check_out, deliver
    from regard.report.json import rounded
    from regard.report.page import page, picture

    if notes:
        if width is not None or model is not None:
            raise InputError("--notes prints the tables of the notes, with their own width; give no --width or --model")
        _notes_tables(out)
        return
    check_out(out, PICTURES)
    from regard.course.positions import requirements
    from regard.course.positions.render import positions_drawing, positions_text

    if model is None:
        found = requirements.positions(128 if width is None else width, length)
    elif width is not None:
        raise InputError("--model has a width of its own; give --width or --model, not both")
    else:
        from regard.translator import Translator

        found = requirements.positions_of(Translator.load(model, device).bundle.model, length)
    output = Output(
        text=lambda: positions_text(found),
        data=lambda: rounded(requirements.as_dict(found)),
        page=lambda: page("Positions", picture(positions_drawing(found))),
        drawing=lambda: positions_drawing(found),
    )
    deliver(output, out, font)


def _notes_tables(out: Path | None) -> None:
    from regard.report.deliver import REPORTS, Output, check_out, deliver

    check_out(out, REPORTS)
    from regard.course.positions import notes_tables as tables

    found = tables.notes_tables()
    output = Output(
        text=lambda: tables.as_text(found),
        data=lambda: tables.as_dict(found),
        markdown=lambda: tables.as_markdown(found),
        page=lambda: tables.as_page(found),
    )
    deliver(output, out)


def check_numbers(
    trace: Trace, kind: Kind, layer: int | None = None, head: int | None = None, position: int | None = None
) -> None:
    """Raise InputError for a layer, head or position, counted from 1, that the trace does not have."""
    layers = getattr(trace, kind)
    if not layers:
        return  # the library reports which attention the model has
    for flag, value, most in (
        ("--layer", layer, len(layers)),
        ("--head", head, len(layers[min(max(0, (layer or len(layers)) - 1), len(layers) - 1)])),
        ("--position", position, layers[0].shape[1]),
    ):
        if value is not None and not 1 <= value <= most:
            raise InputError(f"{flag} counts from 1 to {most} for {kind} attention, but is {value}")


def tokens(
    text: Sentence,
    src: Annotated[Path | None, FLAGS("--src")] = None,
    merges: Annotated[int | None, FLAGS("--merges")] = None,
    model: Annotated[Path | None, TOKENS_FLAGS("--model")] = None,
    out: Annotated[Path | None, TOKENS_FLAGS("--out")] = None,
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
        from regard.course.grammar import generate

        lines = [example.src for example in generate(size=1000)["train"].examples]
        origin = f"learnt from {len(lines):,} English lines of the embedded corpus"
        found = tokens_learnt(text, lines, merges or 200, origin)
    deliver(tokens_output(found), out)
