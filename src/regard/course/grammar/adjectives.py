"""Adjectives: English, French, before or after the noun, and the kinds of noun each can describe (`words.toml`)."""

from __future__ import annotations

from dataclasses import dataclass

from regard.course.grammar.morphology import WORDS, feminine_adjective, plural_adjective


@dataclass(frozen=True)
class Adjective:
    """An adjective with its French forms; `before`: whether it precedes the French noun."""

    en: str
    comparative: str
    fr: str
    fr_feminine: str
    fr_before_vowel: str  # bel, nouvel, vieil; else empty
    before: bool
    kinds: str
    invariable: bool = False  # "en bois"

    def form(self, feminine: bool, plural: bool) -> str:
        """Returns the French form with this gender and number."""
        if self.invariable:
            return self.fr
        one = self.fr_feminine if feminine else self.fr
        return plural_adjective(one) if plural else one


def _parse(line: str) -> Adjective:
    """Parses an entry of `words.toml`."""
    words, _, kinds = line.partition(":")
    en, fr, *marks = words.split()
    forms = fr.replace("_", " ").split("/")
    comparative = next((m.removeprefix(">") for m in marks if m.startswith(">")), "")
    return Adjective(
        en=en,
        comparative=comparative.replace("_", " "),
        fr=forms[0],
        fr_feminine=forms[1] if len(forms) > 1 else feminine_adjective(forms[0]),
        fr_before_vowel=forms[2] if len(forms) > 2 else "",
        before="<" in marks,
        kinds=kinds.strip(),
        invariable=" " in forms[0],
    )


ADJECTIVES: tuple[Adjective, ...] = tuple(_parse(line) for line in WORDS["adjectives"]["all"].splitlines())
BY_NAME: dict[str, Adjective] = {adjective.en: adjective for adjective in ADJECTIVES}
NO_DEGREE = frozenset(WORDS["adjectives"]["without_degree"].split())  # adjectives without "very" and "too"
