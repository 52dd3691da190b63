"""All texts that the models in the box learn from and are measured on, cleaned, in one folder.

    python recipes/box/gather.py FILES DATA
    python recipes/box/gather.py FILES DATA --only en-fr en-de

FILES has europarl/ (train, dev and test as four files side by side, .en .fr .de .es; a line is empty where a language
has no counterpart), tatoeba-en-fr/pairs.tsv, tatoeba-en-de/ (train, dev, test), common-voice/ (en.txt …),
general-tests/ (FLORES, newstest2013, Tatoeba's test sets, peers/) and newstest2014/, plain or compressed. DATA becomes

en-fr/ en-de/ en-es/     Europarl: train, cleaned; dev and test, without the pairs of which a side is in another
                         language: from 2010 on many speeches are there in the speaker's own language alone
tatoeba-en-fr/           train, cleaned; dev and test, split by connected sentences as `regard fetch` splits them
tatoeba-en-de/           the same, split as it came
mono/en.txt fr.txt …     single sentences, cleaned: Common Voice, and the English of Europarl that is in no pair
tests/ peers/            test sets, and what other translators said for them

No sentence of any dev or test set is in any training file, on either side (leaks.py counts them). What each rule
dropped is in report.txt and report.json beside each train, in mono/LANGUAGE.report.*, and in the table printed at the
end. A part that is there already is not made again.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from regard.align.looseness import learn_association
from regard.data.clean import clean
from regard.data.clean_rules import CleanConfig, Row
from regard.data.compressed import COMPRESSED
from regard.data.corpus import tsv_pair
from regard.data.overlap import HeldOutText, key_words
from regard.data.sources import DATA_SETS
from regard.data.splits import split_connected
from regard.data.text_files import read_lines
from regard.errors import InputError
from regard.report.table import Table
from regard.text.language_identification import foreign_language
from regard.workers import usable_cores

Read = Callable[[], Iterable[Row]]
LANGUAGES = ("en", "fr", "de", "es")
EUROPARL = (("en", "fr"), ("en", "de"), ("en", "es"))
PARTS = ("tatoeba-en-fr", "tatoeba-en-de", "en-fr", "en-de", "en-es", "mono")  # mono needs the three of Europarl
# Tatoeba's pairs were written by hand, one sentence at a time: what rules of form and score found there were idioms,
# times of day and short sentences with names, all good translations.
BY_HAND = CleanConfig(letters=0.2, check_language=False, deviations=0, least_score=0)
# "par écrit . − " or "au nom du groupe ALDE. – " before a speech, mostly in one language alone
ROLE = re.compile(r"^(?:[^.]{2,120} |[a-zà-ÿ][^.]{1,119})\. ?[-−–] ")


def find(folder: Path, name: str) -> Path:
    """The file of that name, plain or compressed."""
    found = [path for suffix in ("", *COMPRESSED) if (path := folder / f"{name}{suffix}").is_file()]
    if not found:
        raise InputError(f"{folder} has no {name}, plain or with {', '.join(COMPRESSED)}")
    return found[0]


def lines(folder: Path, name: str) -> Iterator[str]:
    return read_lines(find(folder, name))


def write(path: Path, texts: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def write_sides(folder: Path, part: str, languages: tuple[str, str], rows: list[Row]) -> None:
    for side, language in enumerate(languages):
        write(folder / f"{part}.{language}", (row[side] for row in rows))


def gather_tests(files: Path, data: Path) -> None:
    """tests/ and peers/."""
    general = files / "general-tests"
    for language in LANGUAGES:
        for test in ("flores-dev", "flores-devtest", "newstest2013"):
            write(data / "tests" / f"{test}.{language}", lines(general, f"{test}.{language}"))
    for one, other in EUROPARL:
        for language in (one, other):
            found = lines(general, f"tatoeba-test-v2021-08-07.{one}-{other}.{language}")
            write(data / "tests" / f"tatoeba.{one}-{other}.{language}", found)
    for other in ("fr", "de"):
        for language in ("en", other):
            found = lines(files / "newstest2014", f"newstest2014.{other}-en.{language}")
            write(data / "tests" / f"newstest2014.{other}.{language}", found)
    if (general / "peers").is_dir():
        (data / "peers").mkdir(exist_ok=True)
        for path in (general / "peers").iterdir():
            shutil.copyfile(path, data / "peers" / path.name)


def tatoeba_french(files: Path) -> dict[str, list[Row]]:
    """train, dev and test."""
    table = DATA_SETS["tatoeba-en-fr"].pairs
    assert table is not None
    rows = (tsv_pair(line, f"line {n}") for n, line in enumerate(lines(files / "tatoeba-en-fr", "pairs.tsv"), start=1))
    return split_connected(list(rows), table.dev, table.test, table.seed)


def tatoeba_german(files: Path) -> dict[str, list[Row]]:
    folder = files / "tatoeba-en-de"
    return {
        part: list(zip(*(lines(folder, f"{part}.{language}") for language in ("en", "de")), strict=True))
        for part in ("train", "dev", "test")
    }


def spoken(line: str) -> str:
    return ROLE.sub("", line)


def europarl(files: Path, part: str, languages: tuple[str, str]) -> Iterator[Row]:
    """The rows that both languages have, without the role of the speaker."""
    sides = (map(spoken, lines(files / "europarl", f"{part}.{language}")) for language in languages)
    return (row for row in zip(*sides, strict=True) if all(text.strip() for text in row))


def held_out(files: Path, data: Path, tatoeba: Iterable[dict[str, list[Row]]]) -> HeldOutText:
    """Every sentence of every test and dev set, as it came, and those of debates also without the speaker's role."""
    tests = (read_lines(path) for path in sorted((data / "tests").iterdir()))
    debates = [lines(files / "europarl", f"{part}.{lang}") for part in ("dev", "test") for lang in LANGUAGES]
    debates += [
        map(spoken, lines(files / "europarl", f"{part}.{lang}")) for part in ("dev", "test") for lang in LANGUAGES
    ]
    everyday = (text for parts in tatoeba for part in ("dev", "test") for row in parts[part] for text in row)
    return HeldOutText.of(chain(everyday, *tests, *debates))


class Gatherer:
    """Cleans one corpus after another."""

    def __init__(self, data: Path, closed: HeldOutText, show: int, workers: int) -> None:
        self.data, self.closed, self.show, self.workers = data, closed, show, workers

    def clean(self, name: str, read: Read, languages: tuple[str, ...], config: CleanConfig, out: Path) -> None:
        begun = time.monotonic()
        report = clean(
            read,
            out,
            config,
            self.closed,
            languages,
            learn=learn_association,
            show=self.show,
            workers=self.workers,
        )
        print(f"{name}: kept {report.kept:,} of {report.read:,}, {time.monotonic() - begun:.0f} s", flush=True)

    def pairs(self, name: str, parts: dict[str, list[Row]], languages: tuple[str, str]) -> None:
        """A corpus that is in memory."""
        out = self.data / name
        if (out / f"test.{languages[1]}").exists():
            return
        self.clean(name, lambda: parts["train"], languages, BY_HAND, out)
        for part in ("dev", "test"):
            write_sides(out, part, languages, parts[part])

    def europarl(self, files: Path, languages: tuple[str, str]) -> None:
        out = self.data / "-".join(languages)
        if (out / f"test.{languages[1]}").exists():
            return
        self.clean(out.name, lambda: europarl(files, "train", languages), languages, CleanConfig(), out)
        for part in ("dev", "test"):
            rows = list(europarl(files, part, languages))
            fine = [
                r
                for r in rows
                if all(foreign_language(text, code) is None for text, code in zip(r, languages, strict=True))
            ]
            write_sides(out, part, languages, [row for row in fine if key_words(row[0]) != key_words(row[1])])
            print(f"{out.name}: {len(fine):,} of {len(rows):,} pairs of {part} are in their languages", flush=True)

    def single(self, language: str, read: Read) -> None:
        final = self.data / "mono" / f"{language}.txt"
        if final.exists():
            return
        folder = self.data / f"mono-{language}"
        self.clean(f"mono {language}", read, (language,), CleanConfig(shortest=2), folder)
        final.parent.mkdir(exist_ok=True)
        for suffix in ("json", "txt"):
            (folder / f"report.{suffix}").rename(final.with_name(f"{language}.report.{suffix}"))
        (folder / f"train.{language}").rename(final)
        folder.rmdir()


def dropped_table(data: Path) -> str:
    """What each rule dropped of each corpus, from the reports."""
    paths = [*sorted(data.glob("*/report.json")), *sorted(data.glob("mono/*.report.json"))]
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    names = [path.parent.name if path.name == "report.json" else f"mono {path.name[:2]}" for path in paths]
    counts = [{rule["rule"]: rule["dropped"] for rule in report["rules"]} for report in reports]
    rows = [["read", *(f"{report['read']:,}" for report in reports)]]
    rows += [
        [rule, *(f"{some[rule]:,}" for some in counts)] for rule in counts[0] if any(some[rule] for some in counts)
    ]
    rows.append(["kept", *(f"{report['kept']:,}" for report in reports)])
    return Table(["", *names], rows).markdown()


def english_alone(files: Path, data: Path) -> Iterator[Row]:
    """English sentences of Europarl that are in no cleaned pair."""
    paired = {
        hash(tuple(key_words(line))) for pair in EUROPARL for line in read_lines(data / "-".join(pair) / "train.en")
    }
    english = map(spoken, lines(files / "europarl", "train.en"))
    return ((line,) for line in english if hash(tuple(key_words(line))) not in paired)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", type=Path)
    options.add_argument("data", type=Path)
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    options.add_argument("--show", type=int, default=50, help="examples of each rule in the reports")
    options.add_argument("--workers", type=int, default=usable_cores(), help="processes; the result is the same")
    given = options.parse_args()
    gather_tests(given.files, given.data)
    french, german = tatoeba_french(given.files), tatoeba_german(given.files)
    closed = held_out(given.files, given.data, (french, german))
    print(f"{len(closed):,} different sentences are held out", flush=True)
    gatherer = Gatherer(given.data, closed, given.show, given.workers)
    for name, parts in (("tatoeba-en-fr", french), ("tatoeba-en-de", german)):
        if name in given.only:
            gatherer.pairs(name, parts, ("en", name[-2:]))
    for pair in EUROPARL:
        if "-".join(pair) in given.only:
            gatherer.europarl(given.files, pair)
    for language in LANGUAGES if "mono" in given.only else ():
        gatherer.single(language, lambda code=language: single_sentences(given.files, given.data, code))
    print(dropped_table(given.data))


def single_sentences(files: Path, data: Path, language: str) -> Iterator[Row]:
    yield from ((line,) for line in lines(files / "common-voice", f"{language}.txt"))
    if language == "en":
        yield from english_alone(files, data)


if __name__ == "__main__":
    main()
