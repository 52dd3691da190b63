"""Translates and writes lines of text: one output line per input line, in order; or the alternatives of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from regard.cli.doubts import DoubtReport
from regard.cli.lines import STDIN, available_chunks, read_lines, write_output
from regard.cli.process import warn
from regard.cli.progress import SentenceCounter
from regard.cli.translate_files import NOT_PARSED
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bulk.rows import OutputForm
    from regard.bundle.bundle import Bundle
    from regard.translation.chain import TextChain
    from regard.translation.translation import Translation
    from regard.translation.translator import TextTranslator

    # Chunks of texts, with the translator for each.
    ChunksByTranslator = Sequence[tuple[TextTranslator | TextChain, Iterable[list[str]]]]


def read_chunks(texts: list[str] | None, input: Path | None, split: str) -> Iterator[list[str]]:
    """Yield the texts, or those of a file or of standard input, in chunks; the first is read at once. For a pipe or a
    terminal, the available lines are a chunk. A text is a line, or with `split` "wrapped" a paragraph. Raises
    InputError if there is no text."""
    if texts:
        return iter([texts])
    from regard.bulk.chunks import MAX_CHUNK_LINES, paragraphs

    wrapped = split == "wrapped"
    if input in (None, STDIN) and not wrapped:
        chunks = available_chunks(read_lines(STDIN), MAX_CHUNK_LINES)
    else:
        lines = read_lines(input or STDIN)
        found = paragraphs(lines) if wrapped else lines
        chunks = iter(lambda: list(islice(found, MAX_CHUNK_LINES)), [])
    first = next(chunks, None)
    if first is None:
        raise InputError("standard input is empty; give texts, --input FILE, or pipe some text in")
    return chain([first], chunks)


class LineTranslation:
    """Translates chunks of lines and writes them. `options` are those of `Translator.translate`; `prefix_file` has the
    prefix of the translation of each line."""

    def __init__(
        self, options: dict[str, Any], form: OutputForm, doubts: DoubtReport, attention: bool, prefix_file: Path | None
    ) -> None:
        self.options, self.form, self.doubts, self.attention = options, form, doubts, attention
        self.prefixes = None if prefix_file is None else read_lines(prefix_file)
        self.done = 0  # number of lines
        self.parsed = False  # whether the rule system could parse any line
        self.without_attention: Bundle | None = None  # a model whose attention cannot be shown

    def write(self, out: Path | None, work: ChunksByTranslator) -> None:
        """Write all translations, then warn about, or raise InputError for, problems that are known only at the end."""
        counter = SentenceCounter(out)

        def write_all(file: TextIO) -> None:
            for translator, chunks in work:
                for chunk in chunks:
                    self.write_chunk(file, translator, chunk, counter)
                counter.end()

        write_output(out, write_all)
        if self.without_attention is not None:  # the translations are correct and already written
            from regard.explain.trace import no_attention

            raise no_attention(self.without_attention)
        if self.prefixes is not None and next(self.prefixes, None) is not None:
            raise InputError(f"--prefix-file has more lines than the input, which has {self.done:,}")
        if self.options["rules"] and not self.parsed:
            warn(NOT_PARSED)
        self.doubts.finish()

    def write_chunk(
        self, file: TextIO, translator: TextTranslator | TextChain, chunk: list[str], counter: SentenceCounter
    ) -> None:
        from regard.bulk.rows import written

        options = self.options if self.prefixes is None else self.options | {"prefix": self.next_prefixes(len(chunk))}
        found = translator.translate(chunk, **options, progress=counter.add)
        if options["rules"] and (rules := translator.rule_system):
            self.parsed = self.parsed or any(rules(line) is not None for line in chunk)
        rows = written(self.done, found, self.form, translator, options["tag"])
        for translation, row in zip(found, rows, strict=True):
            file.write(row)
            self.done += 1
            self.doubts.add(f"line {self.done}", translation)
            if self.attention:
                self.show_attention(translator, translation)
        file.flush()

    def next_prefixes(self, count: int) -> list[str]:
        found = list(islice(self.prefixes or (), count))
        if len(found) < count:
            raise InputError(f"--prefix-file has {self.done + len(found):,} lines, but the input has more")
        return found

    def show_attention(self, translator: TextTranslator | TextChain, translation: Translation) -> None:
        from regard.bulk.rows import one_model

        model = one_model(translator)
        if model.alignment_heads:
            print_attention(model.bundle, translation)
        else:
            self.without_attention = self.without_attention or model.bundle


def print_attention(bundle: Bundle, translation: Translation) -> None:
    """Print the attention weights of each translated sentence as a grid in the terminal."""
    from rich.console import Console

    from regard.explain.grid import grid_of
    from regard.explain.render.terminal import render
    from regard.explain.views import view_attention

    for sentence in translation.sentences:
        if sentence.read:
            seen = view_attention(bundle, sentence.read, sentence.candidates[0].ids, sentence.slots)
            Console().print(render(grid_of(seen.attention, seen.view, seen.trust)))


def write_alternatives(out: Path | None, work: ChunksByTranslator, options: Mapping[str, Any], as_json: bool) -> None:
    """Write a line for each alternative of each text: probability, word and sentence; an empty line separates texts.
    `options` are those of `Translator.alternatives`."""
    texts = ((translator, text) for translator, chunks in work for text in chain.from_iterable(chunks))

    def write_all(file: TextIO) -> None:
        for number, (translator, text) in enumerate(texts):
            found = translator.alternatives(text, **options)
            if as_json:
                rows = [asdict(one) for one in found]
                file.write(json.dumps({"source": text, "alternatives": rows}, ensure_ascii=False) + "\n")
                continue
            width = max(len(one.word) for one in found)
            file.write("\n" if number else "")
            for one in found:
                file.write(f"{one.probability:>6.1%}  {one.word or '∎':<{width}}  {one.text}\n")

    write_output(out, write_all)
