"""Makes few sources of many small ones, for `gather.py FILES DATA --further MORE`.

    python recipes/box/further.py RAW MORE

RAW has pairs/NAME-en-XX.en and .XX, and mono/NAME.XX.txt, as they were taken out of public repositories (LICENCES.md
lists them). MORE becomes general-pairs/SOURCE.en-XX.tsv and general-text/NAME.XX.txt. A name that is in neither SOURCES
nor TEXTS is left out. The order of the texts is random and fixed: what is learnt of a text may be its beginning alone.

Of the dictionary only default translations are kept: words that it translates in one way alone, since its first sense
is as often a rare one ("cheek", fesse), and no names, abbreviations, affixes or proverbs. Of English words with the
same translation the one is kept that the texts have most often, and none that they do not have.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from wikipedia import is_intact, without_patterns

from regard.data.text_files import read_lines

Pair = tuple[str, str]
LANGUAGES = ("fr", "de", "es")
SOURCES = {
    "apps": ("android-apps", "android-settings", "apps-i18n", "inaturalist", "rocketchat", "scratch"),
    "guides": (
        "canada-blogs", "cc-legal", "coronawarn", "gnome-help", "learnosm", "opendatahandbook", "refugee-phrasebook",
        "storybooks",
    ),
    "wikimined": ("wikipedia-mined",),
    "wiktionary": ("wiktionary",),
}  # fmt: skip
TEXTS = {
    "wiki": ("wiki", "simplewiki"),
    "public": ("service-public", "openquizzdb"),
    "novels": ("novels-cidre",),
}
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
ENTRY = re.compile(rf"{WORD.pattern}(?: {WORD.pattern}){{0,3}}")  # neither brackets nor signs, affixes nor proverbs
ABBREVIATION = re.compile(r"[^\W\d_a-zß-ÿ]{2}")
MARKUP = re.compile("---|===")
# a heading before its sentence, a note: "History The river rises", "Audiology Audiology is", "[citation needed]"
HEADING = re.compile(
    r"^([^.,;]{3,80}) \1\b|^\w+:|\[|\]|modifier le code|"
    r"^[^.,;:\"“”']{2,80}[a-z\d)] (?:According|After|Although|An?|As|At|By|During|For|From|He|Her|His|If|In|Its?|Many|"
    r"Most|On|Several|She|Since|Some|The|There|These|They|This|To|We|When|While|With) [a-z]"
)
FEWEST = 2  # times that each word of an English entry must be in the texts


def read_pairs(raw: Path, names: Iterable[str], language: str) -> Iterator[Pair]:
    for name in names:
        sides = [raw / "pairs" / f"{name}-en-{language}.{code}" for code in ("en", language)]
        if all(path.is_file() for path in sides):
            bad = HEADING if name == "wikipedia-mined" else MARKUP
            yield from (row for row in zip(*map(read_lines, sides), strict=True) if not any(map(bad.search, row)))


def read_texts(raw: Path, names: Iterable[str], language: str) -> Iterator[str]:
    """The lines; few of those that begin or end alike, except in novels."""
    for name in names:
        path = raw / "mono" / f"{name}.{language}.txt"
        if not path.is_file():
            continue
        lines = read_lines(path)
        if name == "simplewiki":
            lines = filter(is_intact, lines)  # as `wikipedia.py` does for the others
        yield from lines if name.startswith("novels") else without_patterns(list(lines))


def is_name(pair: Pair) -> bool:
    """Whether all words of the English side and the other side begin with capitals: people, places.

    >>> is_name(("John", "Jean")), is_name(("Allen key", "Innensechskantschlüssel")), is_name(("Turkish", "turc"))
    (True, False, False)
    """
    return all(word[0].isupper() for word in pair[0].split()) and pair[1][0].isupper()


def is_entry(text: str) -> bool:
    """
    >>> [is_entry(text) for text in ("hip-hop", "co-", "ABC", "sign official by writing)", "et al.")]
    [True, False, False, False, False]
    """
    return ENTRY.fullmatch(text) is not None and ABBREVIATION.search(text) is None


def default_translations(pairs: Iterable[Pair], counts: Counter[str]) -> list[Pair]:
    """The entries of a dictionary that can be learnt as they are, by the words of English text and their counts.

    >>> entries = [("ear", "épi"), ("ear", "oreille"), ("abattoir", "abattoir"), ("slaughterhouse", "abattoir")]
    >>> default_translations(entries, Counter(ear=9, abattoir=2, slaughterhouse=3))
    [('slaughterhouse', 'abattoir')]
    """
    found: dict[str, dict[str, Pair]] = {}
    for english, other in pairs:
        found.setdefault(english.lower(), {}).setdefault(other.lower(), (english, other))
    single = [pair for some in found.values() if len(some) == 1 for pair in some.values()]
    fit = [pair for pair in single if all(map(is_entry, pair)) and not is_name(pair)]
    known = [(min(counts[word.lower()] for word in WORD.findall(english)), english, other) for english, other in fit]
    most = {other.lower(): (english, other) for count, english, other in sorted(known) if count >= FEWEST}
    return list(most.values())


def write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(path, flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("raw", type=Path)
    options.add_argument("more", type=Path)
    given = options.parse_args()
    texts = {
        (name, language): lines
        for name, names in TEXTS.items()
        for language in ("en", *LANGUAGES)
        if (lines := list(read_texts(given.raw, names, language)))
    }
    for (name, language), lines in texts.items():
        random.Random(1).shuffle(lines)
        write(given.more / "general-text" / f"{name}.{language}.txt", lines)
    english = chain.from_iterable(lines for (_, language), lines in texts.items() if language == "en")
    counts = Counter(word.lower() for line in english for word in WORD.findall(line))
    for source, names in SOURCES.items():
        for language in LANGUAGES:
            pairs = list(read_pairs(given.raw, names, language))
            if source == "wiktionary":
                pairs = default_translations(pairs, counts)
            if pairs:
                write(given.more / "general-pairs" / f"{source}.en-{language}.tsv", map("\t".join, pairs))


if __name__ == "__main__":
    main()
