"""How often the language of a text is found, by which `regard translate --to` chooses a translator.

    python benchmarks/source_language.py --texts en=tatoeba.en --texts fr=tatoeba.fr --texts de=flores.de …

Each line is a text that may be in any of the languages that are named. "Right" is what `identify_language` says, "sure"
the share of texts of which it does not say that they are uncertain, and "sure but wrong" what nobody is told of. Texts
are those of at most --each lines of a file, chosen at random; files of one language are put together.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from pathlib import Path

from regard.data.text_files import read_lines
from regard.report.table import Table
from regard.text.language_identification import IdentifiedLanguage, identify_language, language_words

SEED = 7
LENGTHS = ((1, 1), (2, 2), (3, 3), (4, 6), (7, 12), (13, 10_000))  # words, from and to


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--texts", action="append", required=True, metavar="CODE=FILE")
    arguments.add_argument("--each", type=int, default=2000, metavar="N", help="lines of a file, at most")
    given = arguments.parse_args()
    files = [(code, Path(path)) for code, _, path in (one.partition("=") for one in given.texts)]
    languages = sorted({code for code, _ in files})
    found: dict[str, list[tuple[int, IdentifiedLanguage]]] = defaultdict(
        list
    )  # language → words of a text, what was found
    for code, path in files:
        lines = [line for line in dict.fromkeys(read_lines(path)) if language_words(line)]
        for line in random.Random(SEED).sample(lines, min(given.each, len(lines))):
            found[code].append((len(line.split()), identify_language([line], languages)))
    rows = []
    for name, low, high in [*((_name(*pair), *pair) for pair in LENGTHS), ("all", 1, 10_000)]:
        some = [(code, one) for code, texts in found.items() for words, one in texts if low <= words <= high]
        rows.append([name, *_figures(some)])
    for code in languages:
        rows.append([code, *_figures([(code, one) for _, one in found[code]])])
    print(Table(["words", "texts", "right", "sure", "sure but wrong"], rows).markdown())


def _name(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}" if high < 1000 else f"{low} or more"


def _figures(found: list[tuple[str, IdentifiedLanguage]]) -> list[str]:
    right = sum(one.language == code for code, one in found)
    sure = sum(one.sure for _, one in found)
    wrong = sum(one.sure and one.language != code for code, one in found)
    return [f"{len(found):,}", *(f"{count / max(1, len(found)):.2%}" for count in (right, sure, wrong))]


if __name__ == "__main__":
    main()
