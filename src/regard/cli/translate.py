"""`regard translate`: one line out per line in, in order, from words, a file or standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from regard.bundle import box
from regard.cli.lines import STDIN, number, read_lines
from regard.cli.options import Device
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.decode.sampling import Sampling
    from regard.decode.steer import RuleSystem
    from regard.decode.translate import Translation, Translator

CHUNK = 2000  # lines in memory at a time; enough to sort into full batches


def translate(
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT",
            help='Sentences to translate; without any, standard input. Write -- before one that starts with "-".',
        ),
    ] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="A model, or a run (its best model), or the name of one in the box. Given several times: an ensemble. "
            f" [default: {box.DEFAULT}, in the box]",
        ),
    ] = None,
    input: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file to translate, one sentence a line (.gz and .xz too).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write (.gz and .xz too); the file appears when all is done."),
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(
            parser=number("--beam", int),
            metavar="N",
            help="Hypotheses kept per sentence; 1 is greedy search.  [default: the model's]",
        ),
    ] = None,
    nbest: Annotated[
        int,
        typer.Option(
            parser=number("--nbest", int),
            metavar="N",
            help="Translations per line, best first, as 'LINE ||| TEXT ||| SCORE', lines counted from 0.",
        ),
    ] = 1,
    length_penalty: Annotated[
        float | None,
        typer.Option(
            parser=number("--length-penalty", float),
            metavar="X",
            help="α of ((5 + length) / 6)^α; more favours longer translations.  [default: the model's]",
        ),
    ] = None,
    steer: Annotated[
        float,
        typer.Option(
            parser=number("--steer", float),
            metavar="X",
            help="How much the model's lexicon has a say, from 0 (none) to below 1; try 0.2. "
            "regard lexicon --model FOLDER learns one.",
        ),
    ] = 0.0,
    rules: Annotated[
        float,
        typer.Option(
            parser=number("--rules", float),
            metavar="X",
            help="How much the embedded English–French grammar has a say in sentences that it can read; try 0.5.",
        ),
    ] = 0.0,
    unknown: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="What to make of <unk>, for models of whole words: keep it, copy the source word that attention "
            "points to, or look that word up in the lexicon.",
        ),
    ] = "keep",
    tag: Annotated[
        str | None, typer.Option("--tag", metavar="TAG", help="One of the model's tags, put before every source.")
    ] = None,
    mend: Annotated[
        bool | None,
        typer.Option(
            "--mend/--as-is",
            help="Read rough text as it was meant: CAPITALS and Title Case in small letters, smileys and addresses "
            "around a sentence left out and put back.  [default: the model's]",
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw translations by their probability instead of searching for the best.")
    ] = False,
    temperature: Annotated[
        float | None,
        typer.Option(
            parser=number("--temperature", float),
            metavar="X",
            help="Of --sample: below 1 favours probable words.  [default: 1]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            parser=number("--seed", int), metavar="N", help="Of --sample: another one draws anew.  [default: 0]"
        ),
    ] = None,
    batch_tokens: Annotated[
        int,
        typer.Option(parser=number("--batch-tokens", int), metavar="N", help="Most tokens of a batch."),
    ] = 4096,
    attention: Annotated[bool, typer.Option("--attention", help="Show which source word each word looked at.")] = False,
    json_lines: Annotated[bool, typer.Option("--json", help="One JSON object a line, with scores and n-best.")] = False,
    device: Device = "auto",
) -> None:
    """Translate sentences, a file, or standard input.

    One line out per line in, in order; empty lines stay empty.
    """
    from regard.decode.translate import Translator

    if attention and (json_lines or tag is not None):
        why = "draws pictures, which are no JSON" if json_lines else "shows sources without a tag"
        raise InputError(f"--attention {why}; give it or {'--json' if json_lines else '--tag'}, not both")
    if batch_tokens < 1:
        raise InputError(f"--batch-tokens must be at least 1, but is {batch_tokens}")
    sampling = sampling_of(sample, beam, temperature, seed)
    check_output(output, input)
    first, lines = lines_of(text, input)
    translator = Translator.load(model or None, device)
    translator.rule_system = rule_system() if rules else None
    size = 1 if not text and not input and sys.stdin.isatty() else CHUNK  # whoever types wants an answer to each line
    done, read = 0, False  # lines; whether the rules could read any

    def write_all(out: TextIO) -> None:
        nonlocal done, read
        live = input is not None and output is not None and sys.stderr.isatty()
        for chunk in _chunks(first, lines, size):
            found = translator.translate(
                chunk,
                beam=beam,
                nbest=nbest,
                length_penalty=length_penalty,
                steer=steer,
                rules=rules,
                unknown=unknown,  # type: ignore[arg-type]  # it says itself what is allowed
                tag=tag,
                mend=mend,
                sampling=sampling,
                batch_tokens=batch_tokens,
            )
            read = read or (rules > 0 and any(rule_system()(line) is not None for line in chunk))
            for translation in found:
                if translation.parts > 1:
                    _warn(f"line {done + 1} is long; it was translated in {translation.parts} parts")
                write_one(out, done, translation, nbest, json_lines)
                if attention and translator.reading:
                    show_attention(translator, translation)
                done += 1
            out.flush()
            if live:
                print(f"\r{done:,} lines", end="", file=sys.stderr, flush=True)
        if live:
            print(file=sys.stderr)

    write_output(output, write_all)
    if attention and not translator.reading:  # the translations are good, and there by now
        from regard.explain.capture import no_attention

        raise no_attention(translator.bundle)
    if rules and not read:
        _warn("the rules could read no line, so --rules changed nothing; they know the English of regard corpus")


def lines_of(text: list[str] | None, input: Path | None) -> tuple[str, Iterator[str]]:
    """The first line, and the others."""
    if text and input:
        raise InputError("both sentences and --input were given; give one or the other")
    lines = iter(text) if text else read_lines(input or STDIN)
    first = next(lines, None)
    if first is None:
        raise InputError("standard input is empty; give sentences, --input FILE, or pipe some text in")
    return first, lines


def sampling_of(sample: bool, beam: int | None, temperature: float | None, seed: int | None) -> Sampling | None:
    from regard.decode.sampling import Sampling

    if sample and beam is not None:
        raise InputError("--sample draws and --beam searches; give one or the other")
    given = [flag for flag, value in (("--temperature", temperature), ("--seed", seed)) if value is not None]
    if given and not sample:
        raise InputError(f"{given[0]} is for drawn translations; add --sample")
    return Sampling(1.0 if temperature is None else temperature, seed=seed or 0) if sample else None


def rule_system() -> RuleSystem:
    from regard.course.rules.translate import translate  # here, because the grammar takes a fifth of a second to load

    return translate


def check_output(path: Path | None, input: Path | None) -> None:
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"--output {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"--output {path} cannot be written: {path.parent} is not a folder")
    if input and path.is_file() and input.exists() and path.samefile(input):
        raise InputError(f"--output {path} is the input file; name another")


def write_output(path: Path | None, write_all: Callable[[TextIO], None]) -> None:
    from regard.data.corpus import COMPRESSED
    from regard.files import write_atomically

    if path is None:
        write_all(sys.stdout)
        return

    def write(place: Path) -> None:
        with COMPRESSED.get(path.suffix, open)(place, "wt", encoding="utf-8", newline="\n") as file:
            write_all(file)

    if path.exists() and not path.is_file():
        write(path)  # a pipe or a device: nothing may take its place
    else:
        write_atomically(path.resolve(), write)


def write_one(out: TextIO, line: int, translation: Translation, nbest: int, json_lines: bool) -> None:
    if json_lines:
        candidates = [{"text": c.text, "score": c.score, "log_prob": c.log_prob} for c in translation.candidates]
        row = {"source": translation.source, "text": translation.text, "score": translation.score, "nbest": candidates}
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
    elif nbest > 1:
        for candidate in translation.candidates or [translation]:  # an empty line has no candidates, but a place
            out.write(f"{line} ||| {candidate.text} ||| {candidate.score:.4f}\n")
    else:
        out.write(translation.text + "\n")


def show_attention(translator: Translator, translation: Translation) -> None:
    from rich.console import Console

    from regard.explain.grid import grid_of
    from regard.explain.look import look
    from regard.explain.render.terminal import render

    if translation.parts == 1:
        seen = look(translator.bundle, translation.read, translation.candidates[0].ids)
        Console().print(render(grid_of(seen.attention, seen.view, seen.trust)))


def _chunks(first: str, lines: Iterator[str], size: int) -> Iterator[list[str]]:
    chunk = [first, *islice(lines, size - 1)]
    while chunk:
        yield chunk
        chunk = list(islice(lines, size))


def _warn(line: str) -> None:
    print(f"regard: {line}", file=sys.stderr)
