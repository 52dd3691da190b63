"""A glossary: terms with their required translations, and their occurrences in a text.

    # a comment; an empty line is skipped
    credit card ⇥ carte de crédit
    keyboard = clavier                 without a tab, = divides
    mouse|mice ⇥ souris                several forms of the source
    cat ⇥ chat|chats|minou             several forms of the target, of which one must occur
    AcmeCloud ⇥ AcmeCloud

Matching takes whole words and, where several terms begin at a word, the longest. A term in lower case matches in any
case, and its translation takes over an initial capital or ALL CAPITALS; a term with a capital matches as it is
written. Regular inflection is removed (`inflection.py`): cats, cat's, cities, walked; where the source is plural, the
regular plural of the target is allowed too. A list of words to keep is a glossary of terms that are not translated. The
time is linear in the text and does not depend on the number of terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import regex

from regard.errors import InputError
from regard.text.casing import capitalize_first
from regard.text.inflection import bases, genitives, plurals, without_possessive
from regard.text.pieces import nfc
from regard.text.span_matching import find_occurrences
from regard.text.words import Span, shortened, word_spans

MAX_TERM = 500  # characters
NO_SPACES = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")

TermKind = Literal["term", "keep"]
Words = tuple[str, ...]


class GlossaryTerm(NamedTuple):
    """One entry: a source term and its allowed translations; `keep`: the source term is copied unchanged."""

    source: str
    targets: tuple[str, ...]
    kind: TermKind = "term"


class TermMatch(NamedTuple):
    """A term in a text: its span, its entry, and its allowed translations, best first."""

    start: int
    end: int
    term: GlossaryTerm
    targets: tuple[str, ...]


class _Unit(NamedTuple):
    start: int
    end: int
    word: str  # NFC, ' for ’
    spaced: bool  # whether a space precedes it


@dataclass
class _Node:
    """A node of the trie of all terms, with one word per level."""

    below: dict[tuple[str, bool], _Node] = field(default_factory=dict)  # (word in lower case, spaced) → node
    terms: dict[Words, GlossaryTerm] = field(default_factory=dict)  # its words if one has a capital, else () → term


class _Found(NamedTuple):
    end: int  # in units of the text
    exact: int  # number of words that are spelled as in the glossary
    plural: bool
    words: Words  # in the text, without a possessive ending
    term: GlossaryTerm


class Glossary:
    """Terms with their translations; falsy if there are none."""

    def __init__(self, terms: Iterable[GlossaryTerm] = ()) -> None:
        self._root = _Node()
        self._terms: dict[tuple[int, Words], GlossaryTerm] = {}  # by node and case
        self.warnings: list[str] = []
        for term in terms:
            self.add(term)

    @property
    def terms(self) -> list[GlossaryTerm]:
        return list(self._terms.values())

    def __len__(self) -> int:
        return len(self._terms)

    def __repr__(self) -> str:
        return f"Glossary({len(self)} terms)"

    @classmethod
    def of(cls, terms: Mapping[str, str]) -> Glossary:
        """Makes a glossary of terms and their translations; "|" separates several forms.

        >>> [m.targets for m in Glossary.of({"cat": "chat"}).find("Two cats.", "en", "fr")]
        [('chats', 'chat')]
        """
        made = cls()
        for source, target in terms.items():
            if not isinstance(source, str) or not isinstance(target, str):
                raise InputError(
                    f"glossary must have a str for each term and translation, but has {source!r}: {target!r}"
                )
            made._add_forms(source, target, f'the term "{source[:40]}"')
        return made

    @classmethod
    def keeping(cls, words: Iterable[str]) -> Glossary:
        """
        >>> [m.targets for m in Glossary.keeping(["AcmeCloud Pro"]).find("AcmeCloud Pro's price", "en", "fr")]
        [('AcmeCloud Pro',)]
        """
        return cls(GlossaryTerm(word.strip(), (), "keep") for word in words if word.strip())

    @classmethod
    def parse(cls, lines: Iterable[str], name: str) -> Glossary:
        """Parses lines of source, a tab or "=", target; `name` is the name of the file in errors and warnings.

        >>> [term.targets for term in Glossary.parse(["cat\\tchat", "mouse = souris"], "terms.tsv").terms]
        [('chat',), ('souris',)]
        """
        made = cls()
        for number, line in _entries(lines):
            where = f"{name}, line {number}"
            columns = line.rstrip("\t ").split("\t" if "\t" in line.strip() else "=")
            if len(columns) != 2 or not all(map(str.strip, columns)):
                shown = shortened(line, 40)
                raise InputError(f'{where} must be a term, one tab or "=", and its translation, but is "{shown}"')
            made._add_forms(columns[0], columns[1], where)
        return made

    @classmethod
    def parse_keep(cls, lines: Iterable[str], name: str) -> Glossary:
        """Parses lines of one term each, which is not translated."""
        made = cls()
        for number, line in _entries(lines):
            if "\t" in line.strip():
                raise InputError(f"{name}, line {number} has a tab; a list of words to keep has one term a line")
            made._check(line, f"{name}, line {number}")
            made.add(GlossaryTerm(line.strip(), (), "keep"))
        return made

    def merged_with(self, other: Glossary | None) -> Glossary:
        """Merges two glossaries; for terms in both, that of the other is taken."""
        return self if not other else Glossary([*self.terms, *other.terms])

    def _add_forms(self, source: str, target: str, where: str) -> None:
        targets = tuple(dict.fromkeys(form.strip() for form in target.split("|") if form.strip()))
        sources = [form.strip() for form in source.split("|") if form.strip()]
        if not sources or not targets:
            raise InputError(f"{where} has no word on one side")
        for form in (*sources, *targets):
            self._check(form, where)
        for form in sources:
            old = self.add(GlossaryTerm(form, targets))
            if old is not None and old.targets != targets:
                self.warnings.append(
                    f'{where}: "{form}" is listed again; "{"|".join(targets)}" replaces "{"|".join(old.targets)}"'
                )

    @staticmethod
    def _check(form: str, where: str) -> None:
        if len(form) > MAX_TERM:
            raise InputError(f"{where} has a term of {len(form):,} characters; at most {MAX_TERM} are allowed")

    def add(self, term: GlossaryTerm) -> GlossaryTerm | None:
        """Adds a term; returns the one that it replaces, if any."""
        units = _units(term.source)
        if not units:
            raise InputError(f"a term needs a letter, a digit or a sign, but is {term.source!r}")
        node = self._root
        for i, unit in enumerate(units):
            node = node.below.setdefault((unit.word.lower(), unit.spaced and i > 0), _Node())
        words = tuple(unit.word for unit in units) if term.source != term.source.lower() else ()
        old = node.terms.get(words)
        node.terms[words] = self._terms[id(node), words] = term
        return old

    def find(self, text: str, source: str = "en", target: str = "fr") -> list[TermMatch]:
        """Returns the terms in a sentence, in order and without overlap. `source` and `target` are languages ("en",
        "fr", "de" or "es"); others have no inflection."""
        matches: list[TermMatch] = []
        units = _units(text) if self._terms else []
        begins = {word: self._begins(word, source) for word in {unit.word for unit in units}}
        at, first = 0, True
        while at < len(units):
            found = None
            if begins[units[at].word]:
                found = max(self._at(units, at, source), key=lambda f: (f.end, f.exact), default=None)
            if found is not None:
                last = units[found.end - 1]
                start, end = units[at].start, last.end - (len(last.word) - len(found.words[-1]))
                targets = _targets(found, text[start:end], first, target)
                matches.append(TermMatch(start, end, found.term, targets))
            first = first and found is None and not units[at].word[0].isalnum()
            at = at + 1 if found is None else found.end
        return matches

    def _begins(self, word: str, language: str) -> bool:
        """Whether a word can be the first of a term."""
        forms = (word, without_possessive(word))
        return any((base.word, False) in self._root.below for form in forms for base in bases(form, language))

    def _at(self, units: Sequence[_Unit], start: int, language: str) -> Iterator[_Found]:
        """Yields all terms that begin at a unit."""
        waiting: list[tuple[_Node, int, bool, Words]] = [(self._root, 0, False, ())]
        while waiting:
            node, exact, plural, words = waiting.pop()
            at = start + len(words)
            if at == len(units):
                continue
            unit = units[at]
            for word in dict.fromkeys((unit.word, without_possessive(unit.word))):
                for base in bases(word, language):
                    below = node.below.get((base.word, unit.spaced and at > start))
                    if below is None:
                        continue
                    so_far = (exact + (base.word == word.lower()), plural or base.plural, (*words, word))
                    for written, term in below.terms.items():
                        if _same_case(so_far[2], written) and (term.kind == "term" or so_far[0] == len(words) + 1):
                            yield _Found(at + 1, *so_far, term)
                    if below.below:
                        waiting.append((below, *so_far))


def _same_case(words: Words, written: Words) -> bool:
    """Whether words of a text have the capitals of a term, up to where inflection changes them: Cities for City."""
    for word, wanted in zip(words, written, strict=False):
        for a, b in zip(word, wanted, strict=False):
            if a.lower() != b.lower():
                break
            if a != b:
                return False
    return True


def _entries(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yields the lines that are not empty or comments, with their numbers."""
    for number, line in enumerate(lines, start=1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _units(text: str) -> list[_Unit]:
    """Returns the words of a text; in scripts without spaces, every character is one."""
    units: list[_Unit] = []
    end_before = 0
    simple = text.isascii()
    for start, end in word_spans(text):
        cut = not simple and NO_SPACES.search(text, start, end) is not None
        for a, b in ((i, i + 1) for i in range(start, end)) if cut else ((start, end),):
            word = text[a:b] if simple else nfc(text[a:b]).replace("’", "'")
            units.append(_Unit(a, b, word, a > end_before))
            end_before = b
    return units


def _targets(found: _Found, surface: str, first: bool, language: str) -> tuple[str, ...]:
    """Returns the allowed translations of a match: the term's forms in the number and case of the source."""
    if found.term.kind == "keep":
        return (surface,)
    forms = list(found.term.targets)
    if found.plural:
        made = [plural for form in forms for plural in plurals(form, language)]
        listed = [plural for plural in made if plural in forms]
        forms = [*listed, *forms] if len(found.term.targets) > 1 else [*made, *forms]
    elif language == "de" and len(forms) == 1:
        forms += genitives(forms[0])
    forms = list(dict.fromkeys(forms))
    if found.term.source != found.term.source.lower():
        return tuple(forms)
    letters = [c for c in surface if c.isalpha()]
    if len(letters) > 1 and all(c.isupper() for c in letters):
        return tuple(form.upper() for form in forms)
    if letters and letters[0].isupper():
        large = [capitalize_first(form) for form in forms]
        return tuple(dict.fromkeys([*forms, *large] if first else large))
    return tuple(forms)


def located_terms(wanted: Sequence[Sequence[str]], translation: str, taken: Iterable[Span] = ()) -> list[Span | None]:
    """Returns the span of each term, given by its forms, in a translation, without overlap and outside `taken`; None
    for a missing term. The first word of the translation may have a capital.

    >>> located_terms([("chat", "chats"), ("chat", "chats"), ("rat",)], "Chats et chat.")
    [(9, 13), (0, 5), None]
    """
    places: list[Span | None] = [None] * len(wanted)
    first = next((i for i, character in enumerate(translation) if character.isalnum()), 0)
    free = bytearray(b"\x01") * len(translation)
    for start, end in taken:
        free[start:end] = bytes(end - start)
    for i in sorted(range(len(wanted)), key=lambda i: -max(map(len, wanted[i]), default=0)):  # the longest first
        for form in wanted[i]:
            large = capitalize_first(form)
            at_first = (span for span in find_occurrences(large, "term", translation) if span[0] == first)
            spans = [*find_occurrences(form, "term", translation), *at_first]
            places[i] = next((span for span in spans if all(free[slice(*span)])), None)
            if (place := places[i]) is not None:
                free[slice(*place)] = bytes(place[1] - place[0])
                break
    return places
