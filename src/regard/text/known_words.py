"""Which words a model knows, learnt from its training pairs: a capitalised word that it does not know is a name.

A source word is one of

    ordinary      seen in small letters: cat
    translated    seen with a capital, and mostly not found as it is in the translation: Monday, London (Londres)
    copied        seen with a capital, mostly found as it is, and often enough for a model to copy it reliably: Tom
    rare          a name too seldom seen to rely on the model, whose small form is an ordinary word: Baker

and unknown otherwise; other rare names count as unknown. The file holds one word a line: ordinary and translated words
as they are, the most frequent first, copied ones after "+", rare names after "=". A word that is there small and with a
capital has the capital far more often: Paris in French, where *paris* are bets. In files of the first version, which
are read too, words are in the order of the alphabet, so that nothing is known of their frequency.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Literal

from regard.errors import InputError
from regard.files import write_atomically
from regard.text.capitals import CAPITALISED_NOUNS, WORD, cased_words, with_capital
from regard.text.misspelt import is_tangled, likely, meant, run_together, says_last_letter_twice, without_accents
from regard.text.stems import has_known_stem

FIRST_LINE = "# regard: known words 2"
FIRST_LINE_WITHOUT_ORDER = "# regard: known words 1"
OFTEN = 50  # pairs with a name, from which on a model copies it reliably
SELDOM = 20  # times as often with a capital: a noun that is written small by mistake
RATHER = 5  # times as often with a capital: where capitals say nothing, the word is read with it
MOSTLY = 0.5  # of the pairs with a word, the share whose target has it as it is: a name from here on
SEEN_AS_NAME = 3  # pairs that make a name of a word that is ordinary in small letters

Knowledge = Literal["ordinary", "translated", "copied", "rare", "unknown"]
# Of a slip at the beginning of a sentence, where names stand too: its letters, and the rank of the word that is meant.
LETTERS_AT_START, FREQUENT_AT_START, TANGLED_AT_START, SHORT_AT_START = 5, 1_000, 5_000, 100
LETTERS_OF_NOUN = 6  # of a misspelt one with a capital, since names have one too
ENDINGS = ("s", "es")  # of forms that are known when the word is: Germans


class KnownWords:
    """
    >>> pairs = [("I saw Tom on Monday.", "J'ai vu Tom lundi."), ("The cat sleeps.", "Le chat dort.")]
    >>> known = KnownWords.learn(pairs, often=1)
    >>> [known.is_name(word, at_start=False) for word in ("Zürich", "Monday", "Tom", "Cat")]
    [True, False, False, False]
    """

    def __init__(
        self,
        words: Iterable[str] = (),
        copied: Iterable[str] = (),
        rare: Iterable[str] = (),
        by_frequency: bool = False,
    ) -> None:
        """`by_frequency`: the words are given in the order of their frequency."""
        self.ordered = tuple(words) if by_frequency else ()
        self.words = frozenset(self.ordered or words)  # ordinary in small letters, translated with a capital
        self.copied = frozenset(copied)
        self.rare = frozenset(rare)

    @classmethod
    def learn(cls, pairs: Iterable[tuple[str, str]], language: str = "en", often: int = OFTEN) -> KnownWords:
        """From pairs (source, target); `language` is the source's."""
        small = Counter[str]()
        within, kept_within = Counter[str](), Counter[str]()
        first, kept_first = Counter[str](), Counter[str]()
        for source, target in pairs:
            targets: set[str] | None = None
            for word in cased_words(source, language=language):
                form = source[word.start : word.end]
                if form.islower():
                    small[form] += 1
                elif any(map(str.isupper, form)):
                    targets = parts_of(target) if targets is None else targets
                    seen, kept = (first, kept_first) if word.at_start else (within, kept_within)
                    seen[form] += 1
                    kept[form] += form in targets
        fewest = 1
        if language in CAPITALISED_NOUNS:
            # An unknown noun is no name by itself (`names.py`), and those seen once, most of them compounds, would be
            # half of the list. One that somebody wrote small once in a while has its capital nevertheless.
            fewest = 2
            for form in [form for form in small if small[form] * SELDOM < within[with_capital(form)]]:
                del small[form]
        words, copied, rare = {*small, *_rather_with_capital(small, within)}, set[str](), set[str]()
        for form in within.keys() | first.keys():
            ordinary = form.lower() in small
            # At the beginning of a sentence any word has a capital: only one that is never small counts there.
            times = within[form] + (0 if ordinary else first[form])
            times_kept = kept_within[form] + (0 if ordinary else kept_first[form])
            if times_kept < MOSTLY * times:
                if not ordinary and times >= fewest:
                    words.add(form)
            elif times >= often:
                copied.add(form)
            elif ordinary and times >= SEEN_AS_NAME and len(form) > 1:
                rare.add(form)
        ordered = sorted(words, key=lambda form: (-small[form] - within[form] - first[form], form))
        return cls(ordered, copied, rare, by_frequency=True)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Of each word by its frequency, 0 the first; empty where that is not known."""
        return {word: rank for rank, word in enumerate(self.ordered)}

    @cached_property
    def _accented(self) -> dict[str, str]:
        """Of words with accents, as they are typed without any, the most frequent; only where the order is known."""
        found = {bare: word for word in reversed(self.ordered) if not word.isascii() for bare in without_accents(word)}
        return {bare: word for bare, word in found.items() if bare not in self.words}

    def knowledge(self, word: str) -> Knowledge:
        """
        >>> KnownWords(["cat", "German"]).knowledge("Germans")
        'translated'
        """
        if word in self.copied:
            return "copied"
        if word in self.rare:
            return "rare"
        if word in self.words:
            return "translated" if word != word.lower() else "ordinary"
        small = word.lower()
        if small in self.words:
            return "ordinary"
        if "-" in word and all(self.knowledge(part) in ("ordinary", "translated") for part in word.split("-")):
            return "translated"  # Mexican-American
        for ending in ENDINGS:
            if small.endswith(ending):
                if word[: -len(ending)] in self.words:
                    return "translated"
                if small[: -len(ending)] in self.words:
                    return "ordinary"
        return "unknown"

    def with_its_capital(self, word: str) -> str:
        """A word in small letters as it is written otherwise, or far more often.

        >>> [KnownWords(["Haus", "grün"], ["Tom"]).with_its_capital(word) for word in ("haus", "grün", "tom", "xyz")]
        ['Haus', 'grün', 'Tom', 'xyz']
        >>> KnownWords(["Turkey", "turkey"]).with_its_capital("turkey")
        'Turkey'
        """
        other = with_capital(word)
        return other if other in self.words or (other in self.copied and word not in self.words) else word

    def is_name(self, word: str, at_start: bool, language: str = "en") -> bool:
        """Whether the model has no business translating it; `at_start`: it begins a sentence, where any word has a
        capital."""
        if word.islower():
            return False
        knowledge = self.knowledge(word)
        if at_start and knowledge == "unknown":
            if word.lower() in self._accented or has_known_stem(word.lower(), self.words, language):
                return False
            return not self._is_slip_at_start(word)
        return knowledge == "unknown" or (knowledge == "rare" and not at_start)

    def _is_slip_at_start(self, word: str) -> bool:
        """Whether a word that begins a sentence is rather a slip of a frequent word than a name."""
        small = word.lower()
        tangled = is_tangled(small, self.words)
        found = likely(small, self.ranks)
        if not self.ranks or found is None:
            return tangled and not self.ranks
        if len(small) < LETTERS_AT_START:
            return (tangled or len(small) == LETTERS_AT_START - 1) and self.ranks[found] < SHORT_AT_START
        return self.ranks[found] < (TANGLED_AT_START if tangled else FREQUENT_AT_START)

    def intended(self, word: str, at_start: bool = False, language: str = "en") -> str | None:
        """The only known word that a word in small letters can be a slip of, or the one that is far more frequent than
        the others (`misspelt.py`); None if it is known, if there is none or if there are several. A word with a capital
        is looked at where it begins a sentence (`at_start`), and in languages all of whose nouns have one.

        >>> KnownWords(["station", "cat", "cart"]).intended("sttion"), KnownWords(["cat"]).intended("cats")
        ('station', None)
        """
        small = word.lower()
        capitalised = word[:1].isupper() and word[1:].islower()
        if word.islower() and says_last_letter_twice(word, self.ranks):
            return word[:-1]
        if self.knowledge(word) != "unknown":
            return None
        if has_known_stem(small, self.words, language):
            return None
        if (accented := self._accented.get(small)) and (word.islower() or (capitalised and at_start)):
            return accented if word.islower() else with_capital(accented)
        if capitalised and at_start:
            found = likely(small, self.ranks) if self._is_slip_at_start(word) else None
            return found and with_capital(found)
        nouns = language in CAPITALISED_NOUNS
        if not word.islower() and not (capitalised and nouns and len(word) >= LETTERS_OF_NOUN):
            return None
        if self.ranks:
            return likely(word, self.ranks) or (None if nouns else run_together(word, self.ranks))
        others = meant(word, self.words)
        return others.pop() if len(others) == 1 else None

    def save(self, path: Path) -> None:
        names = sorted([*(f"+{word}" for word in self.copied), *(f"={word}" for word in self.rare)])
        first = FIRST_LINE if self.ordered else FIRST_LINE_WITHOUT_ORDER
        content = "\n".join([first, *names, *(self.ordered or sorted(self.words)), ""])
        write_atomically(path, lambda temporary: temporary.write_text(content, "utf-8"))

    @classmethod
    def load(cls, path: Path) -> KnownWords:
        try:
            first, *lines = path.read_text("utf-8").split("\n")
        except UnicodeDecodeError:
            first, lines = "", []
        if first not in (FIRST_LINE, FIRST_LINE_WITHOUT_ORDER):
            raise InputError(f'{path}: not a file of known words; its first line must be "{FIRST_LINE}"')
        marked = [line for line in lines if line[:1] in ("+", "=")]
        copied, rare = ([line[1:] for line in marked if line[0] == mark] for mark in "+=")
        words = [line for line in lines if line and line[0] not in "+="]
        return cls(words, copied, rare, by_frequency=first == FIRST_LINE)


def _rather_with_capital(small: Counter[str], within: Counter[str]) -> set[str]:
    """Words that are known in small letters too, but are far more frequent with a capital within a sentence. Of letters
    that stand alone nothing is said: they are marks, units and initials."""
    forms = {with_capital(form): count for form, count in small.items() if len(form) > 1}
    return {form for form, count in forms.items() if within[form] > RATHER * count}


def parts_of(text: str) -> set[str]:
    """The words of a text, and the parts of those that an apostrophe or a hyphen joins.

    >>> sorted(parts_of("l'Angleterre"))
    ['Angleterre', 'l', "l'Angleterre"]
    """
    parts = set()
    for word in WORD.findall(text):
        parts.add(word)
        after = word.replace("’", "'").rpartition("'")[2]
        parts.update([after, word.replace("’", "'").partition("'")[0], *after.split("-")])
    return parts
