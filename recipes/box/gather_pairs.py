"""The sources of FILES/general-pairs: what kind of text each is, which rules clean it, and what is held out of it.

SOURCE.en-XX.tsv holds English ⇥ another language. Sources differ: a label has one word and no verb, a manual is full of
names of functions, a dictionary has sides that are the same. So each source has its own thresholds (`KINDS`), set by
reading what they drop. Looseness is judged by one aligner for each pair of languages, which learns from all sources
together: most are too small for their own.

Out of every source and pair with LARGE or more rows, PART pairs are held out for dev and as many for test. They are
chosen by English sentences for all languages at once, those that most languages have first, so that little more than
these is lost for training.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from mend import mended

from regard.align.looseness import Association, learn_association
from regard.data.clean import learn_languages
from regard.data.clean_rules import CleanConfig, Row, Rule, Rules
from regard.data.compressed import COMPRESSED
from regard.data.overlap import HeldOutText, key_words
from regard.data.splits import components, sentence_key
from regard.data.text_files import read_lines

LARGE, PART = 5_000, 200
LEARN_FROM = 100_000  # pairs of a pair of languages
MOST = 10  # rows of one sentence in a language: more are a common phrase
CANDIDATES = 8  # times as many sentences are judged as are held out

# The language of a line is not checked: of 221 rows of 25 sources that the rule dropped, 13 were bad, and the others
# names, titles and words of programs. What is not translated is found by its words (`mend.py`).
PROSE = CleanConfig(same_placeholders=True, letters=0.4, check_language=False)
LABELS = CleanConfig(same_placeholders=True, letters=0.2, check_language=False, deviations=6, least_score=0.5)
FREE = replace(PROSE, least_score=0.75)  # dialogue and the like: loose and good
KINDS: dict[str, CleanConfig] = {
    "tatoeba": CleanConfig(letters=0.2, check_language=False, deviations=0, least_score=0),
    "laws": replace(PROSE, least_score=2.5),  # below this half of the rows are of other clauses
    **dict.fromkeys(("games", "games2"), FREE),
    **dict.fromkeys(("ui", "mozilla", "vocab", "names", "esco", "apps", "wiktionary"), LABELS),
}
MARKED = ("ui", "games", "games2", "science", "openedx")  # sources whose labels may have accelerator marks
Split = dict[str, list[Row]]


def sources(files: Path, languages: Sequence[str]) -> dict[str, list[str]]:
    """Sources, and the languages that each has beside English."""
    found: dict[str, list[str]] = {}
    for path in sorted((files / "general-pairs").glob("*.en-*.tsv*")):
        source, pair = path.name.split(".")[:2]
        if pair[3:] in languages:
            found.setdefault(source, []).append(pair[3:])
    return found


def config_of(source: str) -> CleanConfig:
    return KINDS.get(source, PROSE)


def read_source(files: Path, source: str, language: str) -> Iterator[Row | None]:
    """The rows of a source, mended; None for those that cannot be."""
    stem = files / "general-pairs" / f"{source}.en-{language}.tsv"
    path = next(p for suffix in ("", *COMPRESSED) if (p := stem.with_name(stem.name + suffix)).is_file())
    for line in read_lines(path):
        english, _, other = line.partition("\t")
        kind = {"labels": source in MARKED, "lessons": source == "courses", "statutes": source == "laws"}
        yield mended((english, other), ("en", language), **kind)


def read_all(files: Path, languages: Sequence[str], workers: int) -> dict[tuple[str, str], list[Row]]:
    """The mended rows of every source and language."""
    found = [(source, language) for source, some in sources(files, languages).items() for language in some]
    with ProcessPoolExecutor(workers) as pool:
        rows = pool.map(partial(rows_of, files), *zip(*found, strict=True))
        return dict(zip(found, rows, strict=True))


def rows_of(files: Path, source: str, language: str) -> list[Row]:
    rows = list(read_source(files, source, language))
    whole = [row for row in rows if row is not None]
    print(f"{source}-en-{language}: {len(whole):,} of {len(rows):,} rows are whole or were mended", flush=True)
    return whole


def learn_pooled(rows: Mapping[tuple[str, str], Sequence[Row]], language: str) -> Association:
    """The association of English with a language, from all its sources."""
    pooled = [row for (_, code), some in rows.items() if code == language for row in some]
    every = max(1, round(len(pooled) / LEARN_FROM))
    return learn_association((key_words(a), key_words(b)) for a, b in pooled[::every])


def hold_out(
    rows: Mapping[str, Sequence[Row]], fit: Callable[[str, Sequence[Row]], Sequence[bool]], part: int = PART
) -> dict[str, Split]:
    """dev and test of one source, by language, from its rows by language. Rows are connected if the English is the
    same, or the other side within a language; all of a component are in one part."""
    pooled = [(row[0], f"{language} {row[1]}") for language, some in rows.items() for row in some]
    places = [(language, row) for language, some in rows.items() for row in some]
    members: dict[int, list[int]] = {}
    for i, component in enumerate(components(pooled)):
        members.setdefault(component, []).append(i)
    shared = {c: len({places[i][0] for i in some}) for c, some in members.items() if len(some) <= MOST}
    order = sorted(shared, key=lambda c: (-shared[c], order_key(pooled[c][0])))[: CANDIDATES * 2 * part]
    good: dict[int, bool] = {}
    for language in rows:
        numbers = [i for c in order for i in members[c] if places[i][0] == language]
        good |= dict(zip(numbers, fit(language, [places[i][1] for i in numbers]), strict=True))
    held: dict[str, Split] = {language: {"test": [], "dev": []} for language in rows}
    for component in order:
        first = {places[i][0]: places[i][1] for i in reversed(members[component]) if good[i]}
        name = next((n for n in ("test", "dev") if any(len(held[code][n]) < part for code in first)), None)
        for language, row in first.items() if name else ():
            if len(held[language][name]) < part:
                held[language][name].append(row)
    return held


def order_key(sentence: str) -> bytes:
    return hashlib.blake2b(sentence_key(sentence).encode(), digest_size=8).digest()


class Fit:
    """Whether rows of a source are good enough to measure with."""

    def __init__(self, source: str, closed: HeldOutText, scorers: Mapping[str, Association]) -> None:
        labels = config_of(source) is LABELS
        config = replace(config_of(source), shortest=2 if labels else 4, longest=60, letters=0.6)
        self.config, self.closed, self.scorers = config, closed, scorers

    def __call__(self, language: str, rows: Sequence[Row]) -> list[bool]:
        if not rows:
            return []
        checked = replace(self.config, check_language=True)
        rules = Rules(self.config, self.closed, learn_languages(rows, checked, ("en", language)))
        broken = rules.judge(rows).rules
        scores = self.scorers[language].scores(*([key_words(row[side]) for row in rows] for side in (0, 1)))
        fine = (broken == Rule.NONE) & ~(np.nan_to_num(scores, nan=9.0) < 2 * self.config.least_score)
        found: list[bool] = fine.tolist()
        return found
