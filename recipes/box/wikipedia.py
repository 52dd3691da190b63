"""Sentences of Wikipedia for back-translation, from text extracted by WikiExtractor.

    python recipes/box/wikipedia.py FOLDER en --out wiki.en.txt --count 1000000

FOLDER is searched for files named wiki_*, in which an article stands between <doc …> and </doc>, one paragraph per
line. Kept are whole sentences of 6 to 45 words that the extraction left intact (templates leave "approximately ." and
"( )" behind) and that are mostly words. Many articles are written after a pattern ("X is a commune in …"): of the
sentences with the same beginning or the same end at most SAME are kept. The order is random and fixed, and `gather.py`
removes what is held out.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path

from regard.text.sentences import sentence_spans
from regard.workers import usable_cores

WORDS = range(6, 46)
SAME = 20  # sentences with the same three first or last words
HOLE = re.compile(r" [.,;:)](?:\s|$)|\( |\(\W|\[|\]|  |,,|\.\.|http|www\.|[|{}<>=_\\]|formula_")
ENDS = (".", "?", "!")
LEAST_SHARE = 0.75  # of letters in small case among all characters


def paragraphs(path: Path) -> Iterator[str]:
    """Yields the paragraphs of an extracted file, without titles and headings."""
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        line = line.strip()
        if len(line) >= 60 and line.endswith(ENDS) and not line.startswith("<"):
            yield line


def is_intact(sentence: str) -> bool:
    """Returns whether a sentence is whole and consists of words.

    >>> is_intact("The tower is taller than approximately .")
    False
    >>> is_intact("Some early towers have a frame of steel that carries the walls.")
    True
    """
    small = sum(map(str.islower, sentence))
    return (
        sentence.endswith(ENDS)
        and (sentence[0].isupper() or sentence[0] in '¿¡"«„“')
        and HOLE.search(sentence) is None
        and len(sentence.split()) in WORDS
        and small >= LEAST_SHARE * (len(sentence) - sentence.count(" "))
        and sentence.count('"') % 2 == 0
        and sentence.count("(") == sentence.count(")")
    )


def sentences(path: Path, language: str) -> list[str]:
    spans = ((text, sentence_spans(text, language)) for text in paragraphs(path))
    return [one for text, found in spans for a, b in found if is_intact(one := text[a:b].strip())]


def without_patterns(lines: list[str]) -> Iterator[str]:
    """Yields the lines, each once, but few of those that begin or end alike."""
    begun: Counter[tuple[str, ...]] = Counter()
    ended: Counter[tuple[str, ...]] = Counter()
    for line in dict.fromkeys(lines):
        words = tuple(line.split())
        begun[words[:3]] += 1
        ended[words[-3:]] += 1
        if begun[words[:3]] <= SAME and ended[words[-3:]] <= SAME:
            yield line


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("language", choices=("en", "fr", "de", "es"))
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--count", type=int, default=1_000_000)
    options.add_argument("--workers", type=int, default=usable_cores())
    given = options.parse_args()
    files = sorted(given.folder.rglob("wiki_*"))
    if not files:
        raise SystemExit(f"{given.folder} has no files named wiki_*; extract a dump with WikiExtractor first")
    with ProcessPoolExecutor(given.workers) as pool:
        lines = list(chain.from_iterable(pool.map(partial(sentences, language=given.language), files, chunksize=4)))
    random.Random(1).shuffle(lines)
    kept = list(without_patterns(lines))[: given.count]
    given.out.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    print(f"{given.out}: {len(kept):,} of {len(lines):,} sentences of {len(files):,} files")


if __name__ == "__main__":
    main()
