"""Whether BLEU can be compared with people's judgements: how many judged sources have a reference in parallel text.

    python benchmarks/judged_references.py --judged judged/*.xz --pairs general-pairs/*.en-de.tsv.xz

Judged files have source and translation in their first two columns, parallel files source and reference. Sources are
compared by their words without case; those of fewer than three words are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from regard.data.text_files import read_lines
from regard.text.words import split_words

SHORTEST = 3  # words


def key(text: str) -> tuple[str, ...]:
    """
    >>> key("It rains, again.")
    ('it', 'rains', 'again')
    """
    return tuple(word.lower() for word in split_words(text) if any(map(str.isalnum, word)))


def sources(files: Iterable[Path]) -> set[tuple[str, ...]]:
    found = {key(line.partition("\t")[0]) for path in files for line in read_lines(path)}
    return {words for words in found if len(words) >= SHORTEST}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judged", type=Path, nargs="+", required=True, help="files of judged translations (.tsv)")
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="files of sentence pairs (.tsv)")
    given = parser.parse_args()
    judged, parallel = sources(given.judged), sources(given.pairs)
    print(f"{len(judged):,} judged sources, {len(parallel):,} with a reference, {len(judged & parallel):,} in both")


if __name__ == "__main__":
    main()
