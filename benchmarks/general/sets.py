"""Test sets: English on one side, French, German or Spanish on the other; two files each, found by their names.

A folder may be laid out in two ways, and files may be compressed (.xz .bz2 .gz .zst):

    as recipes/box makes it   tests/flores-devtest.fr  tests/newstest2014.fr.en  tests/tatoeba.en-fr.fr  en-fr/test.fr
    as a collection           general-tests/flores-devtest.fr.xz  newstest2014/newstest2014.fr-en.en  europarl/test.fr

The others need no folder: the notes' sentences, the embedded grammar and its pronoun pairs, and Tatoeba's own pairs
split by connected sentences, which are fetched. These are English and French.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from regard.course.grammar import NOTES_EXAMPLES, generate
from regard.data.compressed import COMPRESSED
from regard.data.prepare import fetch_data, read_table
from regard.data.sources import DATA_SETS, LinesFile
from regard.data.splits import split_connected
from regard.data.text_files import read_lines
from regard.errors import InputError

DIRECTIONS = ("en-fr", "fr-en", "en-de", "de-en", "en-es", "es-en")
FOLDERS = ("", "tests", "general-tests", "newstest2014")
# Set → names of its files, without the language at their end; {other} is the language that is not English.
REPORTED = {
    "flores-devtest": ("flores-devtest",),
    "newstest2014": ("newstest2014.{other}-en", "newstest2014.en-{other}", "newstest2014.{other}"),
    "newstest2013": ("newstest2013",),
    "tatoeba v2021-08-07": ("tatoeba-test-v2021-08-07.en-{other}", "tatoeba.en-{other}"),
    "europarl test": ("en-{other}/test", "europarl/test"),
}
TO_CHOOSE_BY = {
    "flores-dev": ("flores-dev",),
    "newstest2013": ("newstest2013",),
    "europarl dev": ("en-{other}/dev", "europarl/dev"),
}
OWN = ("notes", "tatoeba dev", "tatoeba test", "grammar test", "grammar compositional", "pronoun pairs")
NAMES = (*OWN, *REPORTED)

Pair = tuple[str, str]


@dataclass(frozen=True)
class TestSet:
    """Lines with their numbers in the file, by which others' outputs are found."""

    __test__ = False  # not a class of tests

    name: str
    sources: list[str]
    references: list[str]
    numbers: list[int]  # from 0

    @classmethod
    def of(cls, name: str, pairs: Sequence[Pair]) -> TestSet:
        """Of pairs that are filled on both sides."""
        kept = [(i, pair) for i, pair in enumerate(pairs) if pair[0].strip() and pair[1].strip()]
        return cls(name, [p[0] for _, p in kept], [p[1] for _, p in kept], [i for i, _ in kept])

    def cut(self, limit: int | None) -> TestSet:
        """At most so many lines, from all parts of the set.

        >>> TestSet.of("letters", [(x, x) for x in "abcde"]).cut(2).sources
        ['a', 'd']
        """
        if limit is None or limit >= len(self.sources):
            return self
        some = range(0, len(self.sources), -(-len(self.sources) // limit))
        sides = ([side[i] for i in some] for side in (self.sources, self.references, self.numbers))
        return TestSet(self.name, *sides)  # type: ignore[arg-type]

    @property
    def fingerprint(self) -> str:
        text = "\n".join([*self.sources, "", *self.references])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def languages_of(direction: str) -> tuple[str, str]:
    if direction not in DIRECTIONS:
        raise InputError(f"a direction is one of {', '.join(DIRECTIONS)}, but was given as {direction!r}")
    source, target = direction.split("-")
    return source, target


def wanted_names(direction: str) -> list[str]:
    """The sets that a direction is measured on. newstest2014 is French and German; Spanish has newstest2013,
    which the others have to choose by."""
    pair = set(languages_of(direction))
    out = {"newstest2014"} if "es" in pair else {"newstest2013"}
    if "fr" not in pair:
        out |= set(OWN)
    if direction != "en-fr":
        out.add("pronoun pairs")
    return [name for name in NAMES if name not in out]


def find_sets(direction: str, roots: Sequence[Path], names: Sequence[str]) -> Iterator[TestSet]:
    """The sets of files among `names` that lie in one of the folders."""
    patterns = REPORTED | TO_CHOOSE_BY
    source, target = languages_of(direction)
    other = source if target == "en" else target
    for name in names:
        found = _files(roots, [p.format(other=other) for p in patterns.get(name, ())], (source, target))
        if found:
            yield TestSet.of(name, _pairs(*found))


def _files(roots: Sequence[Path], names: Sequence[str], languages: tuple[str, str]) -> tuple[Path, Path] | None:
    for root in roots:
        for place in (root / folder / name for folder in FOLDERS for name in names):
            sides = [_existing(Path(f"{place}.{language}")) for language in languages]
            if sides[0] and sides[1]:
                return sides[0], sides[1]
    return None


def _existing(path: Path) -> Path | None:
    places = (path, *(Path(f"{path}{suffix}") for suffix in COMPRESSED))
    return next((place for place in places if place.is_file()), None)


def _pairs(source: Path, target: Path) -> list[Pair]:
    pairs = []
    for one, other in zip_longest(read_lines(source), read_lines(target)):
        if one is None or other is None:
            raise InputError(f"{source} and {target} must have the same number of lines")
        pairs.append((one, other))
    return pairs


def own_sets(direction: str, names: Sequence[str], tatoeba: Path | None = None) -> Iterator[TestSet]:
    """The sets of English and French that need no folder but Tatoeba's, each turned as the direction wants it. Pronoun
    pairs are no lines to compare with; `measure.py` has them."""
    made: dict[str, Sequence[Pair]] = {"notes": NOTES_EXAMPLES} if "notes" in names else {}
    if any(name.startswith("grammar") for name in names):
        splits = generate()
        made |= {f"grammar {n}": [(e.src, e.tgt) for e in splits[n].examples] for n in ("test", "compositional")}
    if tatoeba is not None and any(name in ("tatoeba dev", "tatoeba test") for name in names):
        made |= {f"tatoeba {part}": pairs for part, pairs in tatoeba_parts(tatoeba).items()}
    for name in (name for name in names if name in made):
        yield TestSet.of(name, made[name] if direction == "en-fr" else [(b, a) for a, b in made[name]])


def tatoeba_place(roots: Sequence[Path], fetch: bool) -> Path | None:
    """Where Tatoeba's English and French pairs are: a table or a folder of train, dev and test; fetched if need be."""
    fetched = Path("data/tatoeba-en-fr")
    for folder in (*(root / fetched.name for root in roots), fetched):
        if (folder / "dev.en").is_file():
            return folder
        if (table := _existing(folder / "pairs.tsv")) is not None:
            return table
    if not fetch:
        return None
    from regard.cli.fetch import progress

    with progress() as telling:
        fetch_data(DATA_SETS["tatoeba-en-fr"], fetched, None, telling)
    return fetched


def tatoeba_parts(place: Path) -> dict[str, list[Pair]]:
    """dev and test, split by connected sentences as for training."""
    if place.is_dir():
        sides = {part: [read_lines(place / f"{part}.{lang}") for lang in ("en", "fr")] for part in ("dev", "test")}
        return {part: list(zip(*lines, strict=True)) for part, lines in sides.items()}
    data = DATA_SETS["tatoeba-en-fr"]
    assert data.pairs is not None
    table = list(read_table(LinesFile(place.name), {place.name: place}))
    parts = split_connected(table, data.pairs.dev, data.pairs.test, data.pairs.seed)
    return {"dev": parts.dev, "test": parts.test}
