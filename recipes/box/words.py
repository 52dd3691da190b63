"""The words that a model knows: of en-fr-classic from its tidy texts, of a model that was trained further the old ones.

    python recipes/box/words.py --pairs data/tatoeba-en-fr --texts data/box --model runs/box/en-fr-classic
    python recipes/box/words.py --before OLD/en-fr --model runs/general/bundled/en-fr

With --before, the words of the model before are added to those of the new one, whose text may lack some sources.
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
    options.add_argument("--pairs", type=Path, help="folder with train as .en and .fr")
    options.add_argument("--texts", type=Path, help="folder of prepare.py, with english.fr translated")
    options.add_argument("--before", type=Path, help="the model that it was trained further from")
    options.add_argument("--model", type=Path, required=True, help="a bundle, whose words.txt.gz is written")
    given = options.parse_args()
    if not given.before and not (given.pairs and given.texts):
        options.error("name --pairs and --texts to learn from, or the model --before")
    if given.before:
        known = together(*(KnownWords.load(folder / WORDS) for folder in (given.model, given.before)))
    else:
        known = learned(given.pairs, given.texts)
    known.save(given.model / WORDS)
    write_checksums(given.model, (*SHARED, UPDATES, WORDS))
    print(f"{len(known.words):,} words, {len(known.copied):,} names that are copied, {len(known.rare):,} rare ones")


def learned(pairs: Path, texts: Path) -> KnownWords:
    human = (pair for stem in (pairs / "train", texts / "grammar") for pair in pairs_of(stem))
    further = ((in_small_letters(line), "") for line in read(texts / "english.en"))
    return KnownWords.learn(chain(human, further))


def together(new: KnownWords, old: KnownWords) -> KnownWords:
    """Returns the words of both. Whether a word is copied or rare, the new ones say if they have it.

    >>> both = together(KnownWords(["a", "b"], ["b"], by_frequency=True), KnownWords(["c", "b"], [], ["b", "c"], True))
    >>> both.ordered, sorted(both.copied), sorted(both.rare)
    (('a', 'b', 'c'), ['b'], ['c'])
    """
    seen = new.words | new.copied | new.rare
    added = [[word for word in some if word not in seen] for some in (old.ordered, old.copied, old.rare)]
    words, copied, rare = ([*own, *more] for own, more in zip((new.ordered, new.copied, new.rare), added, strict=True))
    return KnownWords(words, copied, rare, by_frequency=True)


def in_small_letters(line: str) -> str:
    return " ".join(word for word in line.split() if word.islower())


if __name__ == "__main__":
    main()
