"""What reading misspelt words as what was meant does to slips, and to words that are none.

    python benchmarks/mended.py --model en-fr --source test.en --lines 2000

Slips are drawn as in `benchmarks/rough.py`, one in 40 letters. Nothing is translated: this is the preparation alone. A
slip is mended where the word is read as it was before. Words of the clean text that are read as another are printed;
most of them are words that the model does not know, and some are misspelt there.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from itertools import islice
from pathlib import Path

from regard.bundle.bundle import Bundle
from regard.bundle.folder import find_bundle
from regard.data.slips import with_slips
from regard.data.text_files import read_lines
from regard.errors import InputError
from regard.report.table import Table
from regard.text.known_words import KnownWords
from regard.text.normalize_input import TextEdit, spelling_corrections
from regard.text.protected_spans import protected_spans

LETTERS_PER_TYPO = 40


def changes(line: str, known: KnownWords, language: str) -> list[TextEdit]:
    spans = [(span.start, span.end) for span in protected_spans(line, known, language)]
    return spelling_corrections(line, spans, known, language)


def mended(line: str, known: KnownWords, language: str) -> str:
    for start, end, new in sorted(changes(line, known, language), reverse=True):
        line = line[:start] + new + line[end:]
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="a bundle, or a name of the box")
    parser.add_argument("--source", type=Path, required=True, help="sentences in its language, one a line")
    parser.add_argument("--lines", type=int, help="only the first so many")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    bundle = Bundle.read(find_bundle(given.model))
    known, language = bundle.known_words, bundle.languages[0] or "en"
    if known is None:
        raise InputError(f"{given.model} has no known words")
    rng, count, changed = random.Random(given.seed), Counter[str](), Counter[str]()
    for line in islice(read_lines(given.source), given.lines):
        count["words"] += len(line.split())
        changed.update(f"{line[start:end]} ({new})" for start, end, new in changes(line, known, language))
        typed = with_slips(line, LETTERS_PER_TYPO, rng) if line.strip() else line
        read = mended(typed, known, language).split(" ")
        rows = zip(line.split(" "), typed.split(" "), read, strict=False)
        for right, wrong, found in rows if len(read) == len(line.split(" ")) else ():
            if right != wrong:
                count["mended" if found == right else "left" if found == wrong else "wrong"] += 1
    slips = count["mended"] + count["left"] + count["wrong"]
    shares = [f"{count[name]:,} ({count[name] / max(1, slips):.1%})" for name in ("mended", "wrong")]
    row = [given.source.name, f"{count['words']:,}", f"{changed.total():,}", f"{slips:,}", *shares]
    print(Table(["text", "words", "read as another", "slips", "mended", "as a wrong word"], [row]).markdown())
    print(", ".join(changed))


if __name__ == "__main__":
    main()
