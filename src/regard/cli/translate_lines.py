"""Lines of text, translated and written: one line out per line in, in order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from regard.cli.doubts import Doubts
from regard.cli.lines import STDIN, as_they_come, read_lines
from regard.cli.process import warn
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bulk.rows import OutputForm
    from regard.bundle.bundle import Bundle
    from regard.search.steering import RuleSystem
    from regard.translation.chain import TextChain
    from regard.translation.translation import Translation
    from regard.translation.translator import TextTranslator

FEW = 200  # sentences up to which no progress is shown


@dataclass
class Work:
    """Chunks of lines, translated and written; counts what was done."""

    options: dict[str, Any]  # of `Translator.translate`
    form: OutputForm
    attention: bool
    doubts: Doubts
    live: bool  # whether to show the number of sentences on standard error
    prefixes: Iterator[str] | None = None  # how the translation of each line begins
    done: int = 0
    parsed: bool = False  # whether the rules could parse any line
    blind: Bundle | None = None  # a model whose attention should have been shown, but that has none
    counter: Counter = field(default_factory=lambda: Counter())

    def write(self, out: TextIO, translator: TextTranslator | TextChain, chunks: Iterator[list[str]]) -> None:
        from regard.bulk.rows import written

        progress = self.counter.add if self.live else None
        for chunk in chunks:
            options = self.options | ({} if self.prefixes is None else {"prefix": self.next_prefixes(len(chunk))})
            found = translator.translate(chunk, **options, progress=progress)
            if self.options["rules"]:
                self.parsed = self.parsed or any(rule_system()(line) is not None for line in chunk)
            rows = written(self.done, found, self.form, translator, self.options["tag"])
            for translation, row in zip(found, rows, strict=True):
                out.write(row)
                self.count(translation, translator)
            out.flush()
        self.counter.end()

    def next_prefixes(self, count: int) -> list[str]:
        found = list(islice(self.prefixes or (), count))
        if len(found) < count:
            raise InputError(f"--prefix-file has {self.done + len(found):,} lines, but the input has more")
        return found

    def count(self, translation: Translation, translator: TextTranslator | TextChain) -> None:
        self.done += 1
        self.doubts.add(f"line {self.done}", translation)
        if self.attention:
            from regard.bulk.rows import one_model

            model = one_model(translator)
            if model.alignment_heads:
                show_attention(model.bundle, translation)
            else:
                self.blind = self.blind or model.bundle

    def finish(self) -> None:
        """Warnings and errors that are known only at the end."""
        if self.blind is not None:  # the translations are correct and written
            from regard.explain.trace import no_attention

            raise no_attention(self.blind)
        if self.prefixes is not None and next(self.prefixes, None) is not None:
            raise InputError(f"--prefix-file has more lines than the input, which has {self.done:,}")
        if self.options["rules"] and not self.parsed:
            warn("the rules could parse no line, so --rules changed nothing; they know the English of regard corpus")


class Counter:
    """The number of sentences so far, on standard error, once there are more than a few."""

    def __init__(self) -> None:
        self.sentences, self.shown = 0, False

    def add(self, sentences: int) -> None:
        self.sentences += sentences
        if self.sentences > FEW:
            self.shown = True
            print(f"\r{self.sentences:,} sentences", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)


def progress_wanted(out: Path | None) -> bool:
    """A counter and translations do not go to the same terminal."""
    return sys.stderr.isatty() and (out is not None or not sys.stdout.isatty())


def check_attention(attention: bool, as_json: bool, tag: str | None) -> None:
    if attention and as_json:
        raise InputError("--attention draws pictures, which are no JSON; give it or --json, not both")
    if attention and tag is not None:
        raise InputError("--attention shows sources without a tag; give it or --tag, not both")


def chunks_of(text: list[str] | None, input: Path | None, split: str) -> Iterator[list[str]]:
    """The texts in chunks; the first is read at once. From a pipe or a terminal, what has come so far is a chunk. A
    text is a line, or with `split` "wrapped" a paragraph."""
    if text and input:
        raise InputError("both texts and --input were given; give one or the other")
    if text:
        return iter([text])
    from regard.bulk.chunks import MAX_CHUNK_LINES, paragraphs

    wrapped = split == "wrapped"
    if input in (None, STDIN) and not wrapped:
        chunks = as_they_come(read_lines(STDIN), MAX_CHUNK_LINES)
    else:
        lines = read_lines(input or STDIN)
        texts = paragraphs(lines) if wrapped else lines
        chunks = iter(lambda: list(islice(texts, MAX_CHUNK_LINES)), [])
    first = next(chunks, None)
    if first is None:
        raise InputError("standard input is empty; give texts, --input FILE, or pipe some text in")

    def all_chunks() -> Iterator[list[str]]:
        yield first
        yield from chunks

    return all_chunks()


def rule_system() -> RuleSystem:
    from regard.course.rules.translate import translate  # here, because the grammar takes a fifth of a second to load

    return translate


def show_attention(bundle: Bundle, translation: Translation) -> None:
    from rich.console import Console

    from regard.explain.grid import grid_of
    from regard.explain.render.terminal import render
    from regard.explain.views import view_attention

    for sentence in translation.sentences:
        if sentence.read:
            seen = view_attention(bundle, sentence.read, sentence.candidates[0].ids, sentence.slots)
            Console().print(render(grid_of(seen.attention, seen.view, seen.trust)))
