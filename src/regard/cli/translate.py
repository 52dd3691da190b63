"""`regard translate`: one line out per line in, in order, from words, a file or standard input."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from regard.bundle import box
from regard.cli.lines import STDIN, as_they_come, check_output, read_lines, write_output
from regard.cli.options import WIDEST_BEAM, Beam, Device, Json, LengthPenalty, number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.decode.sampling import Sampling
    from regard.decode.steering import RuleSystem
    from regard.decode.translation import Translation
    from regard.translator import Translator

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
            "--model",
            metavar="FOLDER",
            help="A model, or a run (its best model), or the name of a model in the box. Given several times: an "
            f"ensemble.  [default: {box.DEFAULT}, in the box]",
        ),
    ] = None,
    input: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE", help="A file to translate, one sentence a line (.gz and .xz too)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "--output",
            metavar="FILE",
            help="Where to write (.gz and .xz too); the file appears when all is done.  [default: the terminal]",
        ),
    ] = None,
    beam: Beam = None,
    nbest: Annotated[
        int,
        typer.Option(
            "--nbest",
            parser=number("--nbest", int, 1, WIDEST_BEAM),
            metavar="N",
            help="Translations per line, best first, as 'LINE ||| TEXT ||| SCORE', lines counted from 0.",
        ),
    ] = 1,
    length_penalty: LengthPenalty = None,
    steer: Annotated[
        float,
        typer.Option(
            "--steer",
            parser=number("--steer", float),
            metavar="X",
            help="Weight of the model's lexicon, from 0 (unused) to below 1; try 0.2. regard lexicon learns one.",
        ),
    ] = 0.0,
    rules: Annotated[
        float,
        typer.Option(
            "--rules",
            parser=number("--rules", float),
            metavar="X",
            help="Weight of the embedded English–French grammar, for sentences that it can parse; try 0.5.",
        ),
    ] = 0.0,
    unknown: Annotated[
        Literal["keep", "copy", "lexicon"],
        typer.Option(
            "--unknown",
            help="What becomes of <unk> in models of whole words: keep it, copy the source word with the most "
            "attention, or look that word up in the lexicon.",
        ),
    ] = "keep",
    tag: Annotated[
        str | None,
        typer.Option("--tag", metavar="TAG", help="One of the model's tags, put before every source sentence."),
    ] = None,
    mend: Annotated[
        bool | None,
        typer.Option(
            "--mend/--no-mend",
            help="Tidy the source first: CAPITALS and Title Case become lower case, smileys and addresses around a "
            "sentence are left out and put back.  [default: the model's]",
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw translations by their probability instead of searching for the best.")
    ] = False,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            parser=number("--temperature", float),
            metavar="X",
            help="Of --sample: below 1 favours probable words.  [default: 1]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", parser=number("--seed", int), metavar="N", help="Of --sample.  [default: 0]"),
    ] = None,
    batch_tokens: Annotated[
        int,
        typer.Option(
            "--batch-tokens",
            parser=number("--batch-tokens", int, 1, 10_000_000),
            metavar="N",
            help="Tokens in a batch, at most.",
        ),
    ] = 4096,
    attention: Annotated[
        bool, typer.Option("--attention", help="Show which source word each target word attends to.")
    ] = False,
    as_json: Json = False,
    device: Device = "auto",
) -> None:
    """Translate sentences, a file, or standard input.

    One line out per line in, in order; empty lines stay empty.

    \b
      regard translate "The cat is on the mat."
      regard translate --input corpus/dev.en --out dev.out --beam 1
    """
    from regard.translator import Translator

    check_attention(attention, as_json, tag)
    sampling = sampling_of(sample, beam, temperature, seed)
    check_output(out, input)
    chunks = chunks_of(text, input)
    translator = Translator.load(model or None, device)
    translator.rule_system = rule_system() if rules else None
    options = {
        "beam": beam, "nbest": nbest, "length_penalty": length_penalty, "steer": steer, "rules": rules,
        "unknown": unknown, "tag": tag, "mend": mend, "sampling": sampling, "batch_tokens": batch_tokens,
    }  # fmt: skip
    live = input is not None and out is not None and sys.stderr.isatty()
    work = Work(translator, options, nbest, as_json, attention, live)
    write_output(out, lambda file: work.write(file, chunks))
    work.finish()


@dataclass
class Work:
    """Chunks of lines, translated and written; counts what was done."""

    translator: Translator
    options: dict[str, Any]  # of `Translator.translate`
    nbest: int
    as_json: bool
    attention: bool
    live: bool  # whether to show the number of lines on standard error
    done: int = 0
    parsed: bool = False  # whether the rules could parse any line

    def write(self, out: TextIO, chunks: Iterator[list[str]]) -> None:
        for chunk in chunks:
            found = self.translator.translate(chunk, **self.options)
            if self.options["rules"]:
                self.parsed = self.parsed or any(rule_system()(line) is not None for line in chunk)
            for translation in found:
                self.write_one(out, translation)
            out.flush()
            if self.live:
                print(f"\r{self.done:,} lines", end="", file=sys.stderr, flush=True)
        if self.live:
            print(file=sys.stderr)

    def write_one(self, out: TextIO, translation: Translation) -> None:
        if translation.parts > 1:
            _warn(f"line {self.done + 1} is long; it was translated in {translation.parts} parts")
        out.write(formatted(self.done, translation, self.nbest, self.as_json))
        if self.attention and self.translator.alignment_heads:
            show_attention(self.translator, translation)
        self.done += 1

    def finish(self) -> None:
        """Warnings and errors that are known only at the end."""
        if self.attention and not self.translator.alignment_heads:  # the translations are correct and written
            from regard.explain.trace import no_attention

            raise no_attention(self.translator.bundle)
        if self.options["rules"] and not self.parsed:
            _warn("the rules could parse no line, so --rules changed nothing; they know the English of regard corpus")


def check_attention(attention: bool, as_json: bool, tag: str | None) -> None:
    if attention and as_json:
        raise InputError("--attention draws pictures, which are no JSON; give it or --json, not both")
    if attention and tag is not None:
        raise InputError("--attention shows sources without a tag; give it or --tag, not both")


def chunks_of(text: list[str] | None, input: Path | None) -> Iterator[list[str]]:
    """The lines in chunks; the first is read at once. From a pipe or a terminal, what has come so far is a chunk."""
    if text and input:
        raise InputError("both sentences and --input were given; give one or the other")
    if not text and input in (None, STDIN):
        chunks = as_they_come(read_lines(STDIN), CHUNK)
    else:
        lines = iter(text) if text else read_lines(input or STDIN)
        chunks = iter(lambda: list(islice(lines, CHUNK)), [])
    first = next(chunks, None)
    if first is None:
        raise InputError("standard input is empty; give sentences, --input FILE, or pipe some text in")

    def all_chunks() -> Iterator[list[str]]:
        yield first
        yield from chunks

    return all_chunks()


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


def formatted(line: int, translation: Translation, nbest: int, as_json: bool) -> str:
    if as_json:
        candidates = [
            {"text": c.text, "score": _finite(c.score), "log_prob": _finite(c.log_prob)} for c in translation.candidates
        ]
        score = _finite(translation.score)
        row = {"source": translation.source, "text": translation.text, "score": score, "nbest": candidates}
        return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
    if nbest > 1:  # an empty line has no candidates, but it has a line
        found = translation.candidates or [translation]
        return "".join(f"{line} ||| {candidate.text} ||| {candidate.score:.4f}\n" for candidate in found)
    return translation.text + "\n"


def _finite(value: float) -> float | None:
    """JSON has neither NaN nor infinity."""
    return value if math.isfinite(value) else None


def show_attention(translator: Translator, translation: Translation) -> None:
    from rich.console import Console

    from regard.explain.grid import grid_of
    from regard.explain.render.terminal import render
    from regard.explain.views import view_attention

    if translation.parts == 1:
        seen = view_attention(translator.bundle, translation.read, translation.candidates[0].ids)
        Console().print(render(grid_of(seen.attention, seen.view, seen.trust)))


def _warn(line: str) -> None:
    print(f"regard: {line}", file=sys.stderr)
