"""Labels in six directions, with and without the phrase table, against references fixed before.

    python benchmarks/labels.py --data data/general
    python benchmarks/labels.py --data data/general --models runs/general/bundled --split dev --show 20

The labels are short lines without final punctuation, on both sides, from the held-out parts of all collections in
--data (SOURCE-en-XX/test.en and test.XX, which `recipes/box/gather.py` makes): 300 for each language, drawn with a
fixed seed. Nothing of them is in the training data; the phrase table was written without them, but may have some. A
translation is acceptable if it is one of the references of its label: all translations of it in the test and dev parts,
without regard to case, punctuation and spaces. Most labels have one reference, so this is a lower bound of what a
person would accept. With --references FOLDER, labels.refs.XX.tsv of it gives further accepted translations of English
labels (a label, a tab, translations between bars), written before any model translated them. Printed for each
direction: labels, those that the table has, and the shares of acceptable translations and of those that keep the final
punctuation of the label.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from regard.report.table import Table
from regard.translator import Translator

LANGUAGES = ("fr", "de", "es")
SEED, COUNT = 34, 300
MAX_WORDS, MAX_CHARS = 5, 40
END = re.compile(r"\W*$")
NOT_IN_LABELS = re.compile(r"[%{}<>\\_$\d]|[.!?]$")

Pair = tuple[str, str]


def pairs(data: Path, language: str, split: str) -> Iterator[Pair]:
    """English and the other side of all lines of the collections' parts."""
    for english in sorted(data.glob(f"*-en-{language}/{split}.en")):
        sides = (english, english.with_suffix(f".{language}"))
        yield from zip(*(path.read_text(encoding="utf-8").splitlines() for path in sides), strict=True)


def is_label(text: str) -> bool:
    short = 0 < len(text.split()) <= MAX_WORDS and len(text) <= MAX_CHARS
    return short and not NOT_IN_LABELS.search(text) and any(map(str.isalpha, text))


def drawn(found: list[Pair], count: int = COUNT) -> list[Pair]:
    labels = sorted({pair for pair in found if all(map(is_label, pair))})
    return random.Random(SEED).sample(labels, min(count, len(labels)))


def key(text: str) -> str:
    """
    >>> key("Settings:") == key("settings")
    True
    """
    return " ".join(re.findall(r"\w+", text.casefold().replace("’", "'")))


def references(found: list[Pair], side: int) -> dict[str, set[str]]:
    """The accepted translations of each text of a side."""
    accepted = defaultdict(set)
    for pair in found:
        accepted[key(pair[side])].add(key(pair[1 - side]))
    return accepted


def further_references(file: Path) -> Iterator[Pair]:
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        label, _, accepted = line.partition("\t")
        yield from ((label, one) for one in accepted.split("|"))


def same_end(source: str, translation: str) -> bool:
    def end(text: str) -> str:
        return "".join(END.findall(text)[0].split())

    return end(source) == end(translation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with SOURCE-en-XX/test.en and test.XX")
    parser.add_argument("--models", type=Path, help="folder with a model for each direction; default: the bundled ones")
    parser.add_argument("--split", choices=("test", "dev"), default="test")
    parser.add_argument("--references", type=Path, help="folder with further accepted translations")
    parser.add_argument("--show", type=int, default=0, help="print so many of the translations that are not acceptable")
    given = parser.parse_args()
    rows = []
    for language in LANGUAGES:
        found = [pair for split in ("test", "dev") for pair in pairs(given.data, language, split)]
        labels = drawn(list(pairs(given.data, language, given.split)))
        further = given.references / f"labels.refs.{language}.tsv" if given.references else None
        if not labels:
            sys.exit(
                f"{given.data} has no *-en-{language}/{given.split}.en with labels; recipes/box/gather.py makes it"
            )
        for side, direction in enumerate((f"en-{language}", f"{language}-en")):
            sources = [pair[side] for pair in labels]
            accepted = references([*found, *(further_references(further) if further and side == 0 else ())], side)
            translator = Translator.load(given.models / direction if given.models else direction, device="cpu")
            cells: list[str] = []
            for phrases in (False, True):
                answers = translator.translate(sources, phrases=phrases)
                right = [key(a.text) in accepted[key(s)] for s, a in zip(sources, answers, strict=True)]
                ends = [same_end(s, a.text) for s, a in zip(sources, answers, strict=True)]
                cells += [f"{sum(right) / len(right):.1%}", f"{sum(ends) / len(ends):.1%}"]
            by_table = sum(any(span.kind == "phrase" for s in a.sentences for span in s.protected) for a in answers)
            rows.append([direction, str(len(labels)), str(by_table), *cells])
            wrong = [(s, a) for s, a, ok in zip(sources, answers, right, strict=True) if not ok]
            for source, answer in wrong[: given.show]:
                print(f"{direction}  {source} → {answer}   ({' | '.join(sorted(accepted[key(source)]))})")
    header = ["direction", "labels", "in the table", "acceptable", "same end", "with the table", "same end"]
    print(Table(header, rows).text())


if __name__ == "__main__":
    main()
