"""Nouns: English, French, gender, and semantic kinds (`words.toml`).

Words with several senses are in `ambiguous.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from regard.course.grammar.morphology import WORDS, english_plural, french_plural


@dataclass(frozen=True, eq=False)  # compared by identity
class Noun:
    """A noun with its forms in both languages and its kinds."""

    en: str
    en_plural: str
    fr: str
    fr_plural: str
    feminine: bool
    kinds: frozenset[str]

    def is_a(self, kinds: frozenset[str]) -> bool:
        """Whether the noun is of any of these kinds."""
        return not self.kinds.isdisjoint(kinds)


def parse(entry: str, main: str) -> Noun:
    """
    >>> parse("mouse/mice souris f +prey", "animal").en_plural
    'mice'
    """
    fields = entry.split()
    en, fr, gender = fields[:3]
    assert gender in ("m", "f"), entry
    en_one, _, en_many = en.replace("_", " ").partition("/")
    fr_one, _, fr_many = fr.replace("_", " ").partition("/")
    return Noun(
        en=en_one,
        en_plural=en_many or english_plural(en_one),
        fr=fr_one,
        fr_plural=fr_many or french_plural(fr_one),
        feminine=gender == "f",
        kinds=frozenset([main, *(f.removeprefix("+") for f in fields[3:])]),
    )


NOUNS: tuple[Noun, ...] = tuple(
    parse(entry, main) for main, block in WORDS["nouns"].items() for entry in block.split(";")
)
BY_NAME: dict[str, Noun] = {noun.en: noun for noun in NOUNS}
MASS = frozenset({"stuff", "drink", "wealth"})  # nouns without a plural: some bread, du pain


@cache
def select(kinds: str) -> tuple[Noun, ...]:
    """Returns all nouns of any of these kinds, in table order; a noun's name selects that noun, -name excludes it.

    >>> [n.en for n in select("wealth piano")]
    ['money', 'gold', 'piano']
    """
    chosen = frozenset(w for w in kinds.split() if w[0] != "-")
    left_out = frozenset(w[1:] for w in kinds.split() if w[0] == "-")
    found = tuple(n for n in NOUNS if n.en not in left_out and (n.en in chosen or n.is_a(chosen)))
    assert found, f"no noun is {kinds}"
    return found


# name: whether it is feminine
NAMES: dict[str, bool] = {
    name: gender == "feminine" for gender, names in WORDS["names"].items() for name in names.split()
}
ALL_NAMES = tuple(NAMES)
