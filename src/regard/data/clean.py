"""Cleans a parallel corpus: rules for each row, then duplicates, unequal lengths and loose translations.

    rows ─ rules of a row, on all cores (`clean_rules.py`) ─ duplicates ─▶ a temporary file
         ─ lengths, by the corpus' own mean and deviation (Gale and Church 1993)
         ─ looseness, by an aligner that learns from a sample of what is left, on all cores ─▶ OUT/train.*

The result does not depend on the number of processes. Memory holds some twenty bytes per row, a chunk for each process,
and the tables of the aligner. OUT is written under a temporary name and renamed when it is complete. Texts are not
changed, except for line breaks inside them and space around them.
"""

from __future__ import annotations

import json
import shutil
import uuid
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regard.data.chunks import in_chunks, in_parallel
from regard.data.clean_report import CleanReport
from regard.data.clean_rules import SAMPLE, CleanConfig, LineLanguage, Row, Rule, RuleResults, Rules
from regard.data.corpus import source_hash
from regard.data.filters import SeenHashes
from regard.data.overlap import HeldOutText, key_words
from regard.errors import InputError
from regard.files import check_free
from regard.workers import Report, usable_cores

CHUNK, CHUNK_CHARACTERS = 5_000, 4_000_000
LEARN_FROM = 100_000  # pairs, spread evenly over the corpus, that the aligner learns from
Floats = NDArray[np.float32]
Progress = Callable[[str, int, int], None]  # stage, rows done, rows kept of them


class Scorer(Protocol):
    """Scores how well the words of sentence pairs translate each other; NaN for pairs that cannot be scored."""

    def scores(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> Floats: ...


Learn = Callable[[Iterable[tuple[Sequence[str], Sequence[str]]]], Scorer]


@dataclass(frozen=True)
class RowChunk:
    first: int
    rows: list[Row]

    def __str__(self) -> str:
        return f"rows {self.first + 1:,} to {self.first + len(self.rows):,}"


def clean(
    read: Callable[[], Iterable[Row]],
    out: Path,
    config: CleanConfig,
    held_out: HeldOutText,
    languages: tuple[str | None, ...],
    *,
    learn: Learn | None = None,
    show: int = 5,
    workers: int | None = None,
    progress: Progress = lambda stage, done, kept: None,
) -> CleanReport:
    """Writes the clean rows to the new folder `out`, as train.LANGUAGE for each side (train.src and train.tgt where no
    language is known), with report.json. `read` returns the rows, each time it is called. `learn` makes the scorer of
    looseness from pairs of words (`align.looseness.learn_association`); without it, and for a single language,
    looseness is not checked.
    """
    check_free(out)
    names = file_names(languages)
    work = out.with_name(f".{out.name}-{uuid.uuid4().hex}.tmp")
    report = CleanReport(config, languages, show, held_out=len(held_out))
    processes = workers or usable_cores()
    try:
        work.mkdir(parents=True)
        passed = [work / f"{name}.passed" for name in names]
        rules = Rules(config, held_out, learn_languages(read(), config, languages))
        characters = _judge_rows(read(), rules, passed, report, processes, progress)
        _judge_corpus(passed, characters, [work / name for name in names], report, learn, processes, progress)
        for path in passed:
            path.unlink()
        text = json.dumps(report.to_dict(), indent=1, ensure_ascii=False) + "\n"
        (work / "report.json").write_text(text, encoding="utf-8")
        (work / "report.txt").write_text(report.text() + "\n", encoding="utf-8")
        if out.exists():
            out.rmdir()  # an empty folder
        work.rename(out)
    except OSError as problem:
        where = problem.filename or out
        raise InputError(f"{where} cannot be written: {problem.strerror or problem}; make room and try again") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return report


def file_names(languages: Sequence[str | None]) -> list[str]:
    """
    >>> file_names(("en", "fr")), file_names((None, "fr")), file_names(("en",))
    (['train.en', 'train.fr'], ['train.src', 'train.fr'], ['train.en'])
    """
    names = [f"train.{known or unknown}" for known, unknown in zip(languages, ("src", "tgt"), strict=False)]
    if len(set(names)) < len(names):
        raise InputError(
            f"both sides are said to be in {languages[0]}; give the language of each", parameter="languages"
        )
    return names


def learn_languages(rows: Iterable[Row], config: CleanConfig, languages: Sequence[str | None]) -> LineLanguage | None:
    """Learns to check languages from rows; None if no side's language is known or none is to be checked."""
    if not config.check_language or None in languages:
        return None
    sides = list(zip(*islice(rows, SAMPLE), strict=True)) or [() for _ in languages]
    return LineLanguage.learn([language for language in languages if language], sides)


# ── the first pass: rows one by one, and duplicates ──────────────────────────────────────────────────────────────────


def _judge_rows(
    rows: Iterable[Row], rules: Rules, passed: list[Path], report: CleanReport, processes: int, progress: Progress
) -> list[array[int]]:
    """Writes the rows that break no rule; returns the number of characters of each, by side."""
    seen, characters = SeenHashes(), [array("i") for _ in passed]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in passed]
        for chunk, judged in in_parallel(partial(_judging, rules), chunks(rows), processes, few=2):
            broken = judged.rules.copy()
            fine = np.flatnonzero(broken == Rule.NONE)
            if rules.config.duplicates:
                broken[fine[~seen.add_hashes(judged.hashes[fine].view(np.int64))]] = Rule.DUPLICATE
            for row, rule, order in zip(chunk.rows, broken.tolist(), judged.hashes.tolist(), strict=True):
                if rule != Rule.NONE:
                    report.drop(Rule(rule), order, row)
                    continue
                for file, text in zip(files, row, strict=True):
                    file.write(f"{text}\n")
            for side, counts in enumerate(characters):
                counts.extend(judged.characters[broken == Rule.NONE, side].tolist())
            report.read += len(chunk.rows)
            progress("rows", report.read, len(characters[0]))
    return characters


def _judging(rules: Rules, number: int, report: Report) -> Callable[[RowChunk], RuleResults]:
    return lambda chunk: rules.judge(chunk.rows)


def chunks(rows: Iterable[Row]) -> Iterator[RowChunk]:
    """Groups rows, some thousand at a time, fewer where lines are very long; each text is made one line."""
    first = 0
    for some in in_chunks((tuple(map(_one_line, row)) for row in rows), CHUNK, CHUNK_CHARACTERS):
        yield RowChunk(first, some)
        first += len(some)


def _one_line(text: str) -> str:
    return (" ".join(text.splitlines()) if "\n" in text or "\r" in text else text).strip()


# ── the second pass: lengths and looseness ───────────────────────────────────────────────────────────────────────────


def _judge_corpus(
    passed: list[Path],
    characters: list[array[int]],
    final: list[Path],
    report: CleanReport,
    learn: Learn | None,
    processes: int,
    progress: Progress,
) -> None:
    config, pairs = report.config, len(passed) == 2
    count = len(characters[0])
    unequal = np.zeros(count, dtype=bool)
    if pairs and config.deviations and count:
        z, ratio, deviation = length_deviations(*(np.array(side, dtype=np.float64) for side in characters))
        unequal = np.abs(z) > config.deviations
        report.figures["lengths"] = {"ratio": round(ratio, 4), "deviation": round(deviation, 4)}
    scorer = None
    if pairs and learn and config.least_score and count > unequal.sum():
        progress("aligner", 0, 0)
        scorer = learn(_sample(_lines(passed), unequal))
    all_scores = list[Floats]()
    done = 0
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in final]
        workers = processes if scorer else 1
        for chunk, scores in in_parallel(partial(_scoring, scorer), chunks(_lines(passed)), workers, few=2):
            all_scores.append(scores)
            for i, row in enumerate(chunk.rows):
                score = None if np.isnan(scores[i]) else float(scores[i])
                order = source_hash("\t".join(row))  # random, and the same in every run
                if unequal[done + i]:
                    report.drop(Rule.LENGTHS, order, row)
                elif score is not None and score < config.least_score:
                    report.drop(Rule.LOOSE, order, row, score)
                else:
                    report.kept += 1
                    report.sample.offer(order, row, score)
                    if score is not None:
                        report.doubtful.offer(score, row, score)
                    for file, text in zip(files, row, strict=True):
                        file.write(f"{text}\n")
            done += len(chunk.rows)
            progress("pairs" if pairs else "lines", done, report.kept)
    if scorer:
        report.scores(np.concatenate(all_scores))


def _scoring(scorer: Scorer | None, number: int, report: Report) -> Callable[[RowChunk], Floats]:
    def score(chunk: RowChunk) -> Floats:
        if scorer is None:
            return np.full(len(chunk.rows), np.nan, np.float32)
        return scorer.scores(*([key_words(row[side]) for row in chunk.rows] for side in (0, 1)))

    return score


def length_deviations(
    source: NDArray[np.float64], target: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, float]:
    """Returns each pair's deviation from the corpus' length ratio, the ratio c, and the deviation s of a character.

    A source character gives c target characters, with variance s², independently, so a target of mean length m deviates
    by s √m (Gale and Church 1993). s is estimated by the median, which is robust to outliers.

    >>> z, ratio, _ = length_deviations(np.array([10.0, 20, 30, 40]), np.array([11.0, 19, 31, 100]))
    >>> z.argmax().item()
    3
    """
    ratio = float(np.median((target + 1) / (source + 1)))
    mean = (source + target / ratio) / 2 + 1
    apart = (target - ratio * source) / np.sqrt(mean)
    deviation = max(1.4826 * float(np.median(np.abs(apart))), 1e-6)  # of a normal distribution, from its median
    return apart / deviation, ratio, deviation


def _lines(paths: Sequence[Path]) -> Iterator[Row]:
    with ExitStack() as stack:
        files = [stack.enter_context(path.open(encoding="utf-8", newline="\n")) for path in paths]
        yield from zip(*((line.removesuffix("\n") for line in file) for file in files), strict=True)


def _sample(rows: Iterator[Row], left_out: NDArray[np.bool_]) -> Iterator[tuple[list[str], list[str]]]:
    """Yields the words of LEARN_FROM rows, evenly spread."""
    total, number = int((~left_out).sum()), 0
    for row, out in zip(rows, left_out.tolist(), strict=True):
        if out:
            continue
        if number * LEARN_FROM // total != (number - 1) * LEARN_FROM // total or total <= LEARN_FROM:
            yield key_words(row[0]), key_words(row[1])
        number += 1
