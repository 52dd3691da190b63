"""Which words a model knows, learnt from its training pairs: a capitalised word that it does not know is a name.

A source word is one of

    ordinary      seen in small letters: cat
    translated    seen with a capital, and mostly not found as it is in the translation: Monday, London (Londres)
    copied        seen with a capital, mostly found as it is, and often enough for a model to copy it reliably: Tom
    rare          a name too seldom seen to rely on the model, whose small form is an ordinary word: Baker

and unknown otherwise; other rare names count as unknown. The file holds one word a line: ordinary and translated words
as they are, copied ones after "+", rare names after "=".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from regard.errors import InputError
from regard.files import write_atomically
from regard.text.capitals import CAPITALISED_NOUNS, WORD, cased_words
from regard.text.misspelt import is_tangled, meant

FIRST_LINE = "# regard: known words 1"
OFTEN = 50  # pairs with a name, from which on a model copies it reliably
MOSTLY = 0.5  # of the pairs with a word, the share whose target has it as it is: a name from here on
SEEN_AS_NAME = 3  # pairs that make a name of a word that is ordinary in small letters

Knowledge = Literal["ordinary", "translated", "copied", "rare", "unknown"]
ENDINGS = ("s", "es")  # of forms that are known when the word is: Germans
ENDINGS_AT_START = ("ed", "d", "ing", "ly", "er", "ers", "ness", "less", "e", "en", "n")


class KnownWords:
    """
    >>> pairs = [("I saw Tom on Monday.", "J'ai vu Tom lundi."), ("The cat sleeps.", "Le chat dort.")]
    >>> known = KnownWords.learn(pairs, often=1)
    >>> [known.is_name(word, at_start=False) for word in ("Zürich", "Monday", "Tom", "Cat")]
    [True, False, False, False]
    """

    def __init__(self, words: Iterable[str] = (), copied: Iterable[str] = (), rare: Iterable[str] = ()) -> None:
        self.words = frozenset(words)  # ordinary in small letters, translated with a capital
        self.copied = frozenset(copied)
        self.rare = frozenset(rare)

    @classmethod
    def learn(cls, pairs: Iterable[tuple[str, str]], language: str = "en", often: int = OFTEN) -> KnownWords:
        """From pairs (source, target); `language` is the source's."""
        small: set[str] = set()
        within, kept_within = Counter[str](), Counter[str]()
        first, kept_first = Counter[str](), Counter[str]()
        for source, target in pairs:
            targets: set[str] | None = None
            for word in cased_words(source, language=language):
                form = source[word.start : word.end]
                if form.islower():
                    small.add(form)
                elif any(map(str.isupper, form)):
                    targets = parts_of(target) if targets is None else targets
                    seen, kept = (first, kept_first) if word.at_start else (within, kept_within)
                    seen[form] += 1
                    kept[form] += form in targets
        words, copied, rare = set(small), set[str](), set[str]()
        # Where nouns have capitals an unknown one is no name by itself (`names.py`); those seen once, most of them
        # compounds, would be half of the list.
        fewest = 2 if language in CAPITALISED_NOUNS else 1
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
        return cls(words, copied, rare)

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

    def is_name(self, word: str, at_start: bool) -> bool:
        """Whether the model has no business translating it; `at_start`: it begins a sentence, where any word has a
        capital."""
        if word.islower():
            return False
        knowledge = self.knowledge(word)
        if at_start and knowledge == "unknown":
            small = word.lower()
            return not self._has_known_stem(small) and not is_tangled(small, self.words)
        return knowledge == "unknown" or (knowledge == "rare" and not at_start)

    def intended(self, word: str) -> str | None:
        """The only known word that a word in small letters can be a slip of (`misspelt.py`); None if it is known, if
        there is none or if there are several.

        >>> KnownWords(["station", "cat", "cart"]).intended("sttion"), KnownWords(["cat"]).intended("cats")
        ('station', None)
        """
        if not word.islower() or self.knowledge(word) != "unknown" or self._has_known_stem(word):
            return None
        found = meant(word, self.words)
        return found.pop() if len(found) == 1 else None

    def _has_known_stem(self, small: str) -> bool:
        return any(small.endswith(ending) and small[: -len(ending)] in self.words for ending in ENDINGS_AT_START)

    def save(self, path: Path) -> None:
        lines = [*self.words, *(f"+{word}" for word in self.copied), *(f"={word}" for word in self.rare)]
        content = "\n".join([FIRST_LINE, *sorted(lines), ""])
        write_atomically(path, lambda temporary: temporary.write_text(content, "utf-8"))

    @classmethod
    def load(cls, path: Path) -> KnownWords:
        try:
            first, *lines = path.read_text("utf-8").split("\n")
        except UnicodeDecodeError:
            first, lines = "", []
        if first != FIRST_LINE:
            raise InputError(f'{path}: not a file of known words; its first line must be "{FIRST_LINE}"')
        marked = [line for line in lines if line[:1] in ("+", "=")]
        copied, rare = ([line[1:] for line in marked if line[0] == mark] for mark in "+=")
        return cls(frozenset(lines).difference(marked, [""]), copied, rare)


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
