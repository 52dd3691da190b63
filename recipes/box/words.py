"""The words that the model en-fr-classic knows, from its tidy texts.

    python recipes/box/words.py --pairs data/tatoeba-en-fr --texts data/box --model runs/box/en-fr-classic

Training learns them from all texts. Among those of the box are sentences in small letters and with slips, in which any
name would be an ordinary word; these are left out. Of the sentences that only models have translated, words in small
letters alone count: whether a name stays as it is, those translations cannot tell.
"""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from prepare import read
from slots import pairs_of

from regard.bundle.folder import SHARED, UPDATES, WORDS, write_checksums
from regard.text.known_words import KnownWords


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=Path, required=True, help="folder with train as .en and .fr")
    options.add_argument("--texts", type=Path, required=True, help="folder of prepare.py, with english.fr translated")
    options.add_argument("--model", type=Path, required=True, help="a bundle, whose words.txt is written")
    given = options.parse_args()
    human = (pair for stem in (given.pairs / "train", given.texts / "grammar") for pair in pairs_of(stem))
    further = ((in_small_letters(line), "") for line in read(given.texts / "english.en"))
    known = KnownWords.learn(chain(human, further))
    known.save(given.model / WORDS)
    write_checksums(given.model, (*SHARED, UPDATES, WORDS))
    print(f"{len(known.words):,} words, {len(known.copied):,} names that are copied, {len(known.rare):,} rare ones")


def in_small_letters(line: str) -> str:
    return " ".join(word for word in line.split() if word.islower())


if __name__ == "__main__":
    main()
