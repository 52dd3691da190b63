"""`regard translate`: one line out per line in, in order, from words, a file or standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from regard.errors import InputError

if TYPE_CHECKING:
    from regard.decode.translate import Translation, Translator

CHUNK = 2000  # lines in memory at a time; enough to sort into full batches


def translate(
    text: Annotated[
        list[str] | None, typer.Argument(help="Sentences to translate; without any, standard input.")
    ] = None,
    model: Annotated[Path, typer.Option(help="A bundle, or a run's folder (its best model).")] = ...,  # type: ignore[assignment]
    input: Annotated[Path | None, typer.Option(help="A file, one sentence a line (.gz and .xz too).")] = None,
    output: Annotated[Path | None, typer.Option(help="Where to write; it appears when all is done.")] = None,
    beam: Annotated[
        int | None, typer.Option(help="Hypotheses kept per sentence; 1 is greedy. Default: the model's.")
    ] = None,
    nbest: Annotated[int, typer.Option(help="Translations per line: 'line ||| text ||| score'.")] = 1,
    length_penalty: Annotated[float | None, typer.Option(help="α of ((5+n)/6)^α. Default: the model's.")] = None,
    batch_tokens: Annotated[int, typer.Option(help="Most tokens of a batch.")] = 4096,
    attention: Annotated[bool, typer.Option("--attention", help="Show which source word each word looked at.")] = False,
    json_lines: Annotated[bool, typer.Option("--json", help="One JSON object a line, with scores and n-best.")] = False,
    device: Annotated[str, typer.Option(help="auto, cuda, mps or cpu.")] = "auto",
) -> None:
    """Translate sentences, a file, or standard input; one line out per line in, empty lines kept."""
    from regard.decode.translate import Translator

    if text and input:
        raise InputError("both sentences and --input were given; give one or the other")
    if output and input and output.exists() and output.samefile(input):
        raise InputError(f"--output {output} is the input file; name another")
    if batch_tokens < 1:
        raise InputError(f"--batch-tokens must be at least 1, but is {batch_tokens}")
    lines = iter(text) if text else read_input(input)
    first = next(lines, None)
    if first is None:
        raise InputError("standard input is empty; give sentences, --input FILE, or pipe some text in")
    translator = Translator.load(model, device)
    done = 0

    def write_all(out: TextIO) -> None:
        nonlocal done
        for chunk in _chunks(first, lines):
            found = translator.translate(
                chunk, beam=beam, nbest=nbest, length_penalty=length_penalty, batch_tokens=batch_tokens
            )
            for translation in found:
                if translation.parts > 1:
                    _warn(f"line {done + 1} is long; it was translated in {translation.parts} parts")
                write_one(out, done, translation, nbest, json_lines)
                if attention:
                    show_attention(translator, translation)
                done += 1
            out.flush()
            if input and not json_lines and sys.stderr.isatty():
                print(f"\r{done:,} lines", end="", file=sys.stderr, flush=True)

    if output is None:
        write_all(sys.stdout)
    else:
        write_output(output, write_all)


def read_input(path: Path | None) -> Iterator[str]:
    from regard.data.corpus import decode_lines, read_lines

    if path is not None:
        return read_lines(path)
    if sys.stdin.isatty():
        _warn("reading sentences from the terminal; end with Ctrl-D")
    return decode_lines(sys.stdin.buffer, "standard input")


def write_output(path: Path, write_all: object) -> None:
    from regard.bundle import write_atomically

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            write_all(file)  # type: ignore[operator]

    if path.is_dir():
        raise InputError(f"--output {path} is a folder; name a file")
    write_atomically(path, write)


def write_one(out: TextIO, line: int, translation: Translation, nbest: int, json_lines: bool) -> None:
    if json_lines:
        candidates = [{"text": c.text, "score": c.score, "log_prob": c.log_prob} for c in translation.candidates]
        row = {"source": translation.source, "text": translation.text, "score": translation.score, "nbest": candidates}
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
    elif nbest > 1:
        for candidate in translation.candidates:
            out.write(f"{line} ||| {candidate.text} ||| {candidate.score:.4f}\n")
    else:
        out.write(translation.text + "\n")


def show_attention(translator: Translator, translation: Translation) -> None:
    from rich.console import Console

    from regard.explain.look import look
    from regard.explain.render.terminal import render

    if translation.parts == 1:
        seen = look(translator.bundle, translation.source, translation.candidates[0].ids)
        Console().print(render(seen.attention, seen.view, aer=seen.aer))


def _chunks(first: str, lines: Iterator[str]) -> Iterator[list[str]]:
    chunk = [first, *islice(lines, CHUNK - 1)]
    while chunk:
        yield chunk
        chunk = list(islice(lines, CHUNK))


def _warn(line: str) -> None:
    print(f"regard: {line}", file=sys.stderr)
