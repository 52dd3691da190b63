"""The register of translations: the rules of `regard.text.register`, and models that are asked for a register.

    python benchmarks/register.py DATA                        precision and recall of the rules
    python benchmarks/register.py DATA --model en-fr en-de    how often models use the register that is asked for

DATA has train.en-XX.tsv, plain or compressed: English ⇥ formal ⇥ informal translation. Every fifth row is kept aside:
the rules were written with the others, and `--rows build` measures on those. A row with equal sides has no register.
`--show` prints translations with words of the other register.
With `--model`, each English text is translated with both registers. Of the words that only one of the two references
has, those of the translation are counted: the figure is the share that belongs to the register that was asked for.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import regard
from regard.data.compressed import COMPRESSED
from regard.data.text_files import read_lines
from regard.errors import InputError
from regard.report.table import Table
from regard.text.register import RULES, addresses_reader, register_of
from regard.text.words import word_spans

REGISTERS = ("formal", "informal")
ASIDE = 5  # every fifth row is kept aside
TARGET = 0.95


class Row(NamedTuple):
    english: str
    formal: str
    informal: str


def rows(data: Path, language: str, aside: bool = True) -> Iterator[Row]:
    names = [f"train.en-{language}.tsv{suffix}" for suffix in ("", *COMPRESSED)]
    found = [data / name for name in names if (data / name).is_file()]
    if not found:
        raise InputError(f"{data} has no {names[0]}, plain or compressed")
    for number, line in enumerate(read_lines(found[0]), start=1):
        if (number % ASIDE == 0) == aside:
            yield Row(*line.split("\t"))


def words(text: str, language: str) -> Counter[str]:
    """The words; in German with their capitals, by which Sie (you) and sie (they) differ."""
    return Counter(text[a:b] if language == "de" else text[a:b].casefold() for a, b in word_spans(text))


def rules_table(data: Path, aside: bool) -> Table:
    """Precision and recall of the rules, by the target alone and with the English side."""
    body = []
    for language in RULES:
        for with_english in (False, True):
            shown, right, all_of = 0, Counter[str](), Counter[str]()
            for row in rows(data, language, aside):
                addressed = with_english and addresses_reader(row.english)
                same = row.formal == row.informal
                for register, text in zip(REGISTERS[: 1 if same else 2], row[1:], strict=False):
                    found = register_of(text, language, addressed)
                    shown += found is not None
                    right[register] += found == register and not same
                    all_of[register] += not same
            recalls = [right[register] / all_of[register] for register in REGISTERS]
            texts = [f"{100 * value:.1f}%" for value in (right.total() / shown, *recalls)]
            body.append([language, "target and English" if with_english else "target", *texts])
    return Table(["language", "seen", "precision", "recall formal", "recall informal"], body)


def asked_share(language: str, translations: list[str], asked: list[str], other: list[str]) -> tuple[int, int]:
    """Counts the words of translations that only the asked reference has, and those that only the other has."""
    matched = [0, 0]
    for text, *references in zip(translations, asked, other, strict=True):
        said, one, two = (words(some, language) for some in (text, *references))
        for side, only in enumerate((one - two, two - one)):
            matched[side] += (said & only).total()
    return matched[0], matched[1]


def models_table(data: Path, models: list[str], aside: bool, show: int) -> Table:
    body = []
    for name in models:
        translator = regard.load(name)
        language = translator.languages()[1] or ""
        used = [row for row in rows(data, language, aside) if row.formal != row.informal]
        for register, asked, other in (("formal", 1, 2), ("informal", 2, 1)):
            found = translator.translate([row.english for row in used], formality=register)
            texts = [one.text for one in found]
            matched, wrong = asked_share(language, texts, [r[asked] for r in used], [r[other] for r in used])
            share = matched / max(1, matched + wrong)
            pairs = zip(used, texts, strict=True)
            mixed = [(r, text) for r, text in pairs if asked_share(language, [text], [r[asked]], [r[other]])[1]]
            for row, text in mixed[:show]:
                print(f"{name} {register}: {row.english}\n    {text}\n    {row[asked]}")
            reached = "yes" if share >= TARGET else "no"
            body.append([name, register, f"{len(used)}", f"{matched}", f"{wrong}", f"{100 * share:.1f}%", reached])
    return Table(["model", "asked for", "texts", "asked", "other", "share", f"≥ {TARGET:.0%}"], body)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("--rows", choices=("aside", "build"), default="aside", help="rows to measure on")
    options.add_argument("--model", nargs="+", default=[], help="models with tags for both registers")
    options.add_argument("--show", type=int, default=0, help="translations to print, with --model")
    given = options.parse_args()
    aside = given.rows == "aside"
    table = models_table(given.data, given.model, aside, given.show) if given.model else rules_table(given.data, aside)
    print(table.markdown())


if __name__ == "__main__":
    main()
