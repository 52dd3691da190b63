"""All texts that the models in the box learn from and are measured on, cleaned, in one folder.

    python recipes/box/gather.py FILES DATA
    python recipes/box/gather.py FILES DATA --only en-fr en-de
    python recipes/box/gather.py FILES DATA --further MORE

FILES has europarl/ (train, dev and test as four files side by side, .en .fr .de .es; a line is empty where a language
has no counterpart), tatoeba-en-fr/pairs.tsv, tatoeba-en-de/ (train, dev, test), common-voice/ (en.txt …),
general-tests/ (FLORES, newstest2013, Tatoeba's test sets, peers/) and newstest2014/, plain or compressed; if they are
there, also general-pairs/ (SOURCE.en-XX.tsv), general-text/ (wiki.de.txt …), and text to be kept out of training:
swdocs-en-fr/, multi30k/, judged/ and register/. DATA becomes

en-fr/ en-de/ en-es/     Europarl: train, cleaned; dev and test, without the pairs of which a side is in another
                         language: from 2010 on many speeches are there in the speaker's own language alone
tatoeba-en-fr/           train, cleaned; dev and test, split by connected sentences as `regard fetch` splits them
tatoeba-en-de/           the same, split as it came
SOURCE-en-XX/            general-pairs: train, cleaned by rules for that kind of text (gather_pairs.py); dev and test
mono/en.txt fr.txt …     single sentences, cleaned: Common Voice, and the English of Europarl that is in no pair
mono/wiki.de.txt …       general-text, cleaned
heldout/                 sentences of other sets, of which none may be in training
tests/ peers/            test sets, and what other translators said for them

No sentence of any dev or test set is in any training file, on either side (leaks.py counts them). What each rule
dropped is in report.txt and report.json beside each train, in mono/LANGUAGE.report.*, and in the table printed at the
end. A part that is there already is not made again.

MORE has general-pairs/ and general-text/ too (further.py). They are added to a DATA that is complete: a source without
dev and test, since its sentences may be in the training files that are there; a text behind the lines that are there.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from gather_pairs import LARGE, Fit, config_of, hold_out, learn_pooled, read_all
from mend import is_cut, same_brackets

from regard.align.looseness import Association, learn_association
from regard.data.clean import Learn, clean
from regard.data.clean_report import name as rule_name
from regard.data.clean_rules import CleanConfig, Row, Rule
from regard.data.compressed import COMPRESSED
from regard.data.corpus import tsv_pair
from regard.data.overlap import HeldOutText, key_words
from regard.data.sources import DATA_SETS
from regard.data.splits import split_connected
from regard.data.text_files import read_lines
from regard.errors import InputError
from regard.report.table import Table
from regard.text.language import REGISTERS
from regard.text.language_identification import foreign_language
from regard.workers import usable_cores

Read = Callable[[], Iterable[Row]]
PairRows = dict[tuple[str, str], list[Row]]
LANGUAGES = ("en", "fr", "de", "es")
EUROPARL = (("en", "fr"), ("en", "de"), ("en", "es"))
PARTS = ("tatoeba-en-fr", "tatoeba-en-de", "pairs", "text", "en-fr", "en-de", "en-es", "mono")  # mono needs Europarl
# Tatoeba's pairs were written by hand, one sentence at a time: what rules of form and score found there were idioms,
# times of day and short sentences with names, all good translations.
BY_HAND = CleanConfig(letters=0.2, check_language=False, deviations=0, least_score=0)
SINGLE, TEXT = CleanConfig(shortest=2), CleanConfig(shortest=4, longest=60, letters=0.7)
# the beginning of a sentence, unless it is that of another's second half ("Januar 1959 in Paris", "C. por los romanos")
BEGINS = re.compile(
    r"(?!(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|"
    r"Jahrhunderts?|Auflage|Lebensjahre?s?)\b)"
    r"(?!(?!M)[A-Z]\.\s)[\"“«„'‘(¿¡—–-]*\s*(?:[^\W\d_a-zß-ÿ]|\d)"
)
ENDS = re.compile(r"(?<!\b[^\W\d_])[.!?…:][\"”»“’')]*$|[.!?…] ?»$")
EMPTIED = re.compile(r"\(\s*[;,:)]|[:;,]\s*\)")  # "(; Saraki: )", where a pronunciation was taken out
ORDINAL = re.compile(r"\b\d\d?\.$")  # in German: "am 16."
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


def read_sides(folder: Path, part: str, languages: tuple[str, str]) -> list[Row]:
    return list(zip(*(lines(folder, f"{part}.{language}") for language in languages), strict=True))


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
    return {part: read_sides(folder, part, ("en", "de")) for part in ("train", "dev", "test")}


def spoken(line: str) -> str:
    return ROLE.sub("", line)


def europarl(files: Path, part: str, languages: tuple[str, str]) -> Iterator[Row]:
    """The rows that both languages have, without the role of the speaker."""
    sides = (map(spoken, lines(files / "europarl", f"{part}.{language}")) for language in languages)
    return (row for row in zip(*sides, strict=True) if all(text.strip() for text in row))


def gather_held_out(files: Path, data: Path) -> None:
    """heldout/: the parts of other sets that are measured on. The rest of register/ is trained on."""
    texts: dict[str, Iterable[str]] = {}
    for folder, parts, codes in (
        ("swdocs-en-fr", ("dev", "test"), ("en", "fr")),
        ("multi30k", ("val", "test_2016_flickr"), ("en", "fr", "de")),
    ):
        texts |= {
            f"{folder}.{p}.{c}": lines(files / folder, f"{p}.{c}")
            for p in parts
            for c in codes
            if (files / folder).is_dir()
        }
    for name in (
        ("scores.en-de.dev", "scores.en-de.test20", "critical.en-de.dev") if (files / "judged").is_dir() else ()
    ):
        rows = [line.split("\t") for line in lines(files / "judged", f"{name}.tsv")]
        texts |= {f"judged.{name}.{code}": [row[side] for row in rows] for side, code in enumerate(("en", "de"))}
    for code in LANGUAGES[1:] if (files / "register").is_dir() else ():
        rows = [line.split("\t") for line in lines(files / "register", f"train.en-{code}.tsv")]
        texts |= {
            f"register.en-{code}.{side}": [row[i] for row in rows[4::5]]
            for i, side in enumerate(("en", "formal", "informal"))
        }
        differing = [row for i, row in enumerate(rows) if i % 5 != 4 and row[1] != row[2]]
        for column, register in enumerate(REGISTERS, start=1):
            write(data / f"register-en-{code}" / f"{register}.en", [row[0] for row in differing])
            write(data / f"register-en-{code}" / f"{register}.{code}", [row[column] for row in differing])
    for name, text in texts.items():
        write(data / "heldout" / name, text)


def held_out(files: Path, data: Path, tatoeba: Iterable[dict[str, list[Row]]]) -> HeldOutText:
    """Every sentence of every test and dev set, as it came, and those of debates also without the speaker's role."""
    tests = (read_lines(path) for folder in ("tests", "heldout", "chosen") for path in texts_in(data / folder))
    debates = [lines(files / "europarl", f"{part}.{lang}") for part in ("dev", "test") for lang in LANGUAGES]
    debates += [
        map(spoken, lines(files / "europarl", f"{part}.{lang}")) for part in ("dev", "test") for lang in LANGUAGES
    ]
    everyday = (text for parts in tatoeba for part in ("dev", "test") for row in parts[part] for text in row)
    return HeldOutText.of(chain(everyday, *tests, *debates))


def texts_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []


class Gatherer:
    """Cleans one corpus after another."""

    def __init__(self, data: Path, closed: HeldOutText, show: int, workers: int) -> None:
        self.data, self.closed, self.show, self.workers = data, closed, show, workers

    def clean(
        self,
        name: str,
        read: Read,
        languages: tuple[str, ...],
        config: CleanConfig,
        out: Path,
        learn: Learn = learn_association,
    ) -> None:
        begun = time.monotonic()
        report = clean(
            read,
            out,
            config,
            self.closed,
            languages,
            learn=learn,
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

    def general(self, rows: PairRows, scorers: dict[str, Association]) -> None:
        """The sources of general-pairs."""
        for (source, language), some in rows.items():
            out = self.data / f"{source}-en-{language}"
            if out.exists():
                continue
            config = config_of(source)
            self.clean(
                out.name, lambda some=some: some, ("en", language), config, out, lambda _, c=language: scorers[c]
            )
            for path in texts_in(self.data / "chosen" / out.name):
                shutil.copyfile(path, out / path.name)

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

    def texts(self, files: Path, *, add: bool = False) -> None:
        """The texts of general-text."""
        for path in sorted((files / "general-text").glob("*.txt*")):
            name = path.name.partition(".txt")[0]
            there = self.data / "mono" / f"{name}.txt"
            self.single(name, partial(single_texts, path, name[-2:], there), TEXT, add=add)

    def single(self, name: str, read: Read, config: CleanConfig, *, add: bool = False) -> None:
        """mono/NAME.txt; the name ends with the language."""
        final = self.data / "mono" / f"{name}.txt"
        if final.exists() and not add:
            return
        folder, language = self.data / f"mono-{name}", name[-2:]
        self.clean(f"mono {name}", read, (language,), config, folder)
        final.parent.mkdir(exist_ok=True)
        for suffix in ("json", "txt"):
            (folder / f"report.{suffix}").rename(final.with_name(f"{name}.report.{suffix}"))
        (folder / f"train.{language}").rename(final)
        folder.rmdir()


def dropped_table(data: Path) -> str:
    """What each rule dropped of each corpus, from the reports."""
    paths = [*sorted(data.glob("*/report.json")), *sorted(data.glob("mono/*.report.json"))]
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    names = [
        path.parent.name if path.name == "report.json" else "mono " + path.name.removesuffix(".report.json")
        for path in paths
    ]
    counts = [{rule["rule"]: rule["dropped"] for rule in report["rules"]} for report in reports]
    rules = [rule for rule in map(rule_name, Rule) if any(some.get(rule) for some in counts)]
    rows = [
        [name, f"{report['read']:,}", *(f"{some.get(rule, 0):,}" for rule in rules), f"{report['kept']:,}"]
        for name, report, some in zip(names, reports, counts, strict=True)
    ]
    return Table(["", "read", *rules, "kept"], rows).markdown()


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
    options.add_argument("--further", type=Path, metavar="MORE", help="only add what is in this folder")
    options.add_argument("--show", type=int, default=50, help="examples of each rule in the reports")
    options.add_argument("--workers", type=int, default=usable_cores(), help="processes; the result is the same")
    given = options.parse_args()
    french, german = tatoeba_french(given.files), tatoeba_german(given.files)
    if given.further:
        closed = held_out(given.files, given.data, (french, german))
        add_further(given.further, Gatherer(given.data, closed, given.show, given.workers))
        print(dropped_table(given.data))
        return
    gather_tests(given.files, given.data)
    gather_held_out(given.files, given.data)
    closed = held_out(given.files, given.data, (french, german))
    rows, scorers = PairRows(), dict[str, Association]()
    if (given.files / "general-pairs").is_dir():
        rows = read_all(given.files, LANGUAGES[1:], given.workers)
        print(f"{sum(map(len, rows.values())):,} rows of general pairs are whole", flush=True)
        scorers = {code: learn_pooled(rows, code) for code in LANGUAGES[1:]}
        choose(given.data / "chosen", rows, closed, scorers)
        closed = held_out(given.files, given.data, (french, german))
    print(f"{len(closed):,} different sentences are held out", flush=True)
    gatherer = Gatherer(given.data, closed, given.show, given.workers)
    for name, parts in (("tatoeba-en-fr", french), ("tatoeba-en-de", german)):
        if name in given.only:
            gatherer.pairs(name, parts, ("en", name[-2:]))
    if "pairs" in given.only:
        gatherer.general(rows, scorers)
    rows.clear()
    if "text" in given.only:
        gatherer.texts(given.files)
    for pair in EUROPARL:
        if "-".join(pair) in given.only:
            gatherer.europarl(given.files, pair)
    for language in LANGUAGES if "mono" in given.only else ():
        gatherer.single(language, lambda code=language: single_sentences(given.files, given.data, code), SINGLE)
    print(dropped_table(given.data))


def add_further(more: Path, gatherer: Gatherer) -> None:
    """The sources and texts of MORE. The aligners learn from the sources that are there, too."""
    data = gatherer.data
    if not (data / "chosen").is_dir():
        raise InputError(f"{data} is not complete: run gather.py without --further first")
    rows = read_all(more, LANGUAGES[1:], gatherer.workers)
    there: PairRows = {
        (folder.name, code): read_sides(folder, "train", ("en", code))
        for code in LANGUAGES[1:]
        for folder in sorted(data.glob(f"*-en-{code}"))
    }
    gatherer.general(rows, {code: learn_pooled(there | rows, code) for code in LANGUAGES[1:]})
    gatherer.texts(more, add=True)


def choose(folder: Path, rows: PairRows, closed: HeldOutText, scorers: dict[str, Association]) -> None:
    """Writes dev and test of the large sources, before anything is cleaned, unless the folder is there."""
    if folder.exists():
        return
    work = folder.with_name(".chosen.tmp")
    shutil.rmtree(work, ignore_errors=True)
    for source in dict.fromkeys(source for source, _ in rows):
        large = {code: some for (name, code), some in rows.items() if name == source and len(some) >= LARGE}
        for code, parts in hold_out(large, Fit(source, closed, scorers)).items():
            for part, chosen in parts.items():
                write_sides(work / f"{source}-en-{code}", part, ("en", code), chosen)
    work.rename(folder)


def single_texts(path: Path, language: str, there: Path) -> Iterator[Row]:
    """The whole sentences of a file, behind those that are there."""
    if there.exists():
        yield from ((line,) for line in read_lines(there))
    yield from ((line,) for line in read_lines(path) if whole_sentence(line, language))


def whole_sentence(line: str, language: str) -> bool:
    """Whether a line begins and ends as a sentence does: no entry of a list, no sentence that was cut.

    >>> [whole_sentence(line, "de") for line in ("Er nahm teil.", "Er kam am 1.", "März 1898.", "als Richter")]
    [True, False, False, False]
    """
    if not BEGINS.match(line) or not ENDS.search(line) or is_cut(line) or EMPTIED.search(line):
        return False
    return same_brackets((line, "")) and not (language == "de" and ORDINAL.search(line))


def single_sentences(files: Path, data: Path, language: str) -> Iterator[Row]:
    yield from ((line,) for line in lines(files / "common-voice", f"{language}.txt"))
    if language == "en":
        yield from english_alone(files, data)


if __name__ == "__main__":
    main()
