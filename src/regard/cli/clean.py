"""`regard clean`: cleans sentence pairs for training, and reports what was dropped."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import FlagTable, Json
from regard.cli.process import warn
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.data.clean_rules import Row

FLAGS = FlagTable("""
--src FILE                         Source sentences; a pattern names many files.
--tgt FILE                         Their translations, line by line.
--pairs FILE                       Instead: a .tsv or .jsonl file, or a pattern.
--single FILE                      Instead: sentences of one language, one a line, or a pattern.
--out FOLDER                       A folder that does not exist yet.
--without FILE                     Sentences of which none may be left, one a line: a side of a test or dev set. Give it
                                   for each file.
--languages CODES                  Of the sides, such as en,fr. [default: as the text shows]
--check-language/--no-check-language  Drop what is in another language.
--near/--no-near                   Drop what is a sentence of --without but for a few words.
--identical/--no-identical         Drop pairs whose sides are the same.
--duplicates/--no-duplicates       Drop what occurred before, in whatever spelling.
--numbers/--no-numbers             Drop pairs with a number of two or more digits on one side alone.
--same-placeholders/--no-same-placeholders  Drop pairs whose placeholders, such as {name} or %1, are not the same.
--shortest N 1..                   Words of a side.
--longest N 1..                    Words of a side, at most.
--letters X 0..1                   Share of a side's visible characters that are letters, at least.
--deviations X 0..                 Deviations of the lengths of a pair from the corpus' own ratio, at most; 0: any.
--least-score X 0..                How well the words of a pair translate each other, at least, in nats a word; 0: any.
--show N 0..1000                   Examples of each rule.
--workers N 1..256                 Processes; the result is the same. [default: all cores]
""")

SAMPLED = 2000  # rows from which the languages are identified


def clean(
    src: Annotated[Path | None, FLAGS("--src")] = None,
    tgt: Annotated[Path | None, FLAGS("--tgt")] = None,
    pairs: Annotated[str | None, FLAGS("--pairs")] = None,
    single: Annotated[Path | None, FLAGS("--single")] = None,
    out: Annotated[Path | None, FLAGS("--out")] = None,
    without: Annotated[list[Path] | None, FLAGS("--without")] = None,
    languages: Annotated[str | None, FLAGS("--languages")] = None,
    check_language: Annotated[bool, FLAGS("--check-language")] = True,
    near: Annotated[bool, FLAGS("--near")] = True,
    identical: Annotated[bool, FLAGS("--identical")] = True,
    duplicates: Annotated[bool, FLAGS("--duplicates")] = True,
    numbers: Annotated[bool, FLAGS("--numbers")] = False,
    same_placeholders: Annotated[bool, FLAGS("--same-placeholders")] = False,
    shortest: Annotated[int, FLAGS("--shortest")] = 1,
    longest: Annotated[int, FLAGS("--longest")] = 150,
    letters: Annotated[float, FLAGS("--letters")] = 0.5,
    deviations: Annotated[float, FLAGS("--deviations")] = 4.0,
    least_score: Annotated[float, FLAGS("--least-score")] = 1.5,
    show: Annotated[int, FLAGS("--show")] = 5,
    workers: Annotated[int | None, FLAGS("--workers")] = None,
    as_json: Json = False,
) -> None:
    """Clean sentence pairs for training.

    Also cleans sentences of one language. Drops empty and identical sides, sentences of held-out sets, other languages,
    duplicates, lengths that do not match, and loose translations, by the score of an aligner that learns from the pairs
    themselves. Writes train.LANGUAGE for each side, report.json and report.txt with examples of what was dropped.
    docs/data.md says how each rule works.

    \b
      regard clean --src corpus/train.en --tgt corpus/train.fr --without corpus/test.en --out clean
      regard clean --single corpus/train.fr --without corpus/test.fr --out clean-fr
    """
    from regard.align.looseness import learn_association
    from regard.data.clean import clean as clean_rows
    from regard.data.clean_rules import CleanConfig
    from regard.data.overlap import HeldOutText
    from regard.data.text_files import read_lines

    if out is None:
        raise InputError("where to write is not given; add --out FOLDER, which is made")
    read = reader(src, tgt, pairs, single)
    config = CleanConfig(
        identical=identical,
        shortest=shortest,
        longest=longest,
        letters=letters,
        numbers=numbers,
        same_placeholders=same_placeholders,
        check_language=check_language,
        duplicates=duplicates,
        near=near,
        deviations=deviations,
        least_score=least_score,
    )
    codes = language_codes(languages, read, 1 if single else 2)
    held_out = HeldOutText.of(chain.from_iterable(read_lines(path) for path in without or ()))
    progress = CleanProgress()
    report = clean_rows(
        read, out, config, held_out, codes, learn=learn_association, show=show, workers=workers, progress=progress
    )
    progress.end()
    typer.echo(json.dumps(report.to_dict(), indent=2, ensure_ascii=False) if as_json else report.text())
    if not report.kept:
        raise InputError(f"nothing is left; {out / 'report.txt'} says why")


def reader(src: Path | None, tgt: Path | None, pairs: str | None, single: Path | None) -> Callable[[], Iterable[Row]]:
    """A function that reads the rows of the given files each time it is called."""
    from regard.data.corpus import PairFiles, read_pairs
    from regard.data.text_files import read_lines

    if sum((bool(src or tgt), bool(pairs), bool(single))) != 1 or bool(src) != bool(tgt):
        raise InputError("name the sentences in one way: --src FILE --tgt FILE, or --pairs FILE, or --single FILE")
    if single:
        files = PairFiles((single,))
        return lambda: ((line,) for (path,) in files.shards() for line in read_lines(path))
    files = PairFiles((src, tgt)) if src and tgt else PairFiles((Path(pairs or ""),))
    return lambda: read_pairs(files)


def language_codes(given: str | None, read: Callable[[], Iterable[Row]], sides: int) -> tuple[str | None, ...]:
    """The languages of the sides: as given, or identified from their first rows; None if that is not certain."""
    from regard.text.language import LANGUAGE_NAMES
    from regard.text.language_identification import sample_language

    if given is None:
        rows = list(islice(read(), SAMPLED))
        codes = tuple(sample_language(row[side] for row in rows) for side in range(sides))
        if None in codes:
            names = ("the language",) if sides == 1 else ("the source's language", "the target's language")
            unclear = " and ".join(name for name, code in zip(names, codes, strict=True) if code is None)
            warn(f"{unclear} is not clear and no language is checked; name it with --languages, such as en,fr")
        return codes
    named = tuple(code.strip() for code in given.split(","))
    if len(named) != sides or not all(code in LANGUAGE_NAMES for code in named):
        known = "one code, such as en" if sides == 1 else "two codes with a comma, such as en,fr"
        raise InputError(f'--languages must be {known}, but is "{given}"')
    return named


class CleanProgress:
    """Progress as one line that is overwritten on a terminal, or one line per minute in a log."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.begun = self.shown = time.monotonic()
        self.drawn = False

    def __call__(self, stage: str, done: int, kept: int) -> None:
        now = time.monotonic()
        if now - self.shown < (0.2 if self.terminal else 60) or now - self.begun < 1:
            return
        self.shown = now
        line = "the aligner learns" if stage == "aligner" else f"{stage}: {done:,} judged, {kept:,} left"
        if self.terminal:
            self.drawn = True
            print(f"\r{line:<70}", end="", file=sys.stderr, flush=True)
        else:
            warn(line)

    def end(self) -> None:
        if self.drawn:
            print(file=sys.stderr)
