"""The words a model knows, learned from its training pairs; an unknown capitalized word is taken for a name.

A source word has one of these classes:

    ordinary      seen in lower case: cat
    translated    seen with a capital, and mostly not copied to the translation: Monday, London (Londres)
    copied        seen with a capital, mostly copied, and often enough for a model to copy it reliably: Tom
    rare          a name seen too rarely to rely on the model, whose lower-case form is an ordinary word: Baker

and unknown otherwise; other rare names count as unknown. The file, compressed by gzip, has one word per line: ordinary
and translated words unmarked, the most frequent first, copied ones after "+", rare names after "=". A word that is
listed in lower case and with a capital has the capital far more often: Paris in French, where *paris* are bets. Files
of the first version are read too; they are in alphabetical order, without information on frequency.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Literal

import regex

from regard.errors import InputError
from regard.files import SharedObjects, write_atomically
from regard.text import spelling
from regard.text.casing import NOUN_CAPITALIZING_LANGUAGES, WORD, capitalize_first, cased_forms, cased_words
from regard.text.inflection import is_inflected_form
from regard.text.words import PartCache

FIRST_LINE = "# regard: known words 2"
FIRST_LINE_UNORDERED = "# regard: known words 1"
MAX_BYTES = 50_000_000  # of the decompressed file
MIN_COPIED = 50  # minimal pairs with a name for a model to copy it reliably
NOUN_CAPITAL_RATIO = 20  # times as often with a capital: a noun, sometimes misspelled in lower case
TRUECASE_RATIO = 5  # times as often with a capital: in text without case the word is read with it
COPIED_SHARE = 0.5  # minimal share of a name's pairs whose target has it unchanged
MIN_RARE = 3  # minimal pairs with a name that is an ordinary word in lower case

WordClass = Literal["ordinary", "translated", "copied", "rare", "unknown"]
# For a misspelling at the beginning of a sentence, which may be a name: its letters, and the rank of the correction.
START_LETTERS, START_RANK, START_TRANSPOSED_RANK, START_SHORT_RANK = 5, 1_000, 5_000, 100
MIN_NOUN_LETTERS = 6  # of a misspelled noun with a capital, since names have one too
LONG_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]{3,}+")
RANKED_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]{2,}+")  # shorter words are frequent
COMMON_RANK = 3_000  # words of lower rank by frequency are hardly rare
UNKNOWN_RANK = 200_000  # of a word that the training text does not have


class KnownWords:
    """
    >>> pairs = [("I saw Tom on Monday.", "J'ai vu Tom lundi."), ("The cat sleeps.", "Le chat dort.")]
    >>> known = KnownWords.learn(pairs, min_copied=1)
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
        self.words = frozenset(self.ordered or words)  # ordinary in lower case, translated with a capital
        self.copied = frozenset(copied)
        self.rare = frozenset(rare)
        self._unfamiliar: dict[str, PartCache[str]] = {}  # by language

    @classmethod
    def learn(cls, pairs: Iterable[tuple[str, str]], language: str = "en", min_copied: int = MIN_COPIED) -> KnownWords:
        """Learns from pairs (source, target); `language` is the source's."""
        lower = Counter[str]()
        inside, copied_inside = Counter[str](), Counter[str]()
        first, copied_first = Counter[str](), Counter[str]()
        for source, target in pairs:
            targets: set[str] | None = None
            for start, end, at_start in cased_words(source, language=language):
                form = source[start:end]
                if form.islower():
                    lower[form] += 1
                elif any(map(str.isupper, form)):
                    targets = word_parts(target) if targets is None else targets
                    seen, copies = (first, copied_first) if at_start else (inside, copied_inside)
                    seen[form] += 1
                    copies[form] += form in targets
        min_count = 1
        if language in NOUN_CAPITALIZING_LANGUAGES:
            # Unknown nouns are not taken for names (`names.py`), and nouns seen once, mostly compounds, would be half
            # of the list. A noun that is occasionally written in lower case is still listed only with its capital.
            min_count = 2
            for form in [form for form in lower if lower[form] * NOUN_CAPITAL_RATIO < inside[capitalize_first(form)]]:
                del lower[form]
        # Words that are far more frequent with a capital inside sentences; single letters are symbols, units, initials.
        capitals = {capitalize_first(form): count for form, count in lower.items() if len(form) > 1}
        words = {*lower, *(form for form, count in capitals.items() if inside[form] > TRUECASE_RATIO * count)}
        copied, rare = set[str](), set[str]()
        for form in inside.keys() | first.keys():
            ordinary = form.lower() in lower
            # Any word has a capital at the beginning of a sentence: only words never seen in lower case count there.
            times = inside[form] + (0 if ordinary else first[form])
            times_copied = copied_inside[form] + (0 if ordinary else copied_first[form])
            if times_copied < COPIED_SHARE * times:
                if not ordinary and times >= min_count:
                    words.add(form)
            elif times >= min_copied:
                copied.add(form)
            elif ordinary and times >= MIN_RARE and len(form) > 1:
                rare.add(form)
        ordered = sorted(words, key=lambda form: (-lower[form] - inside[form] - first[form], form))
        return cls(ordered, copied, rare, by_frequency=True)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The rank of each word by its frequency, from 0; empty if frequencies are unknown."""
        return {word: rank for rank, word in enumerate(self.ordered)}

    @cached_property
    def unlisted(self) -> PartCache[str]:
        """The words of four letters or more of a text that are not listed, in any case."""
        return PartCache(self._unlisted)

    def _unlisted(self, text: str) -> list[str]:
        listed = self.words, self.copied
        words: list[str] = LONG_WORD.findall(text)
        return [one for one in words if one.lower() not in self.words and not any(one in some for some in listed)]

    @cached_property
    def rarities(self) -> PartCache[float]:
        """The rarity of each word of three letters or more of a text: ln(1 + rank / 3,000), nearly 0 if frequent."""
        return PartCache(self._rarities)

    def _rarities(self, text: str) -> Iterator[float]:
        for word in RANKED_WORD.findall(text):
            lower = word.lower()
            rank = min(self.ranks.get(form, UNKNOWN_RANK) for form in (word, lower, lower.capitalize()))
            yield math.log(1 + (min(rank, COMMON_RANK) if word in self.copied else rank) / COMMON_RANK)

    @cached_property
    def _accented(self) -> dict[str, str]:
        """Spelling without accents → the most frequent word with accents; empty if frequencies are unknown."""
        accented = (word for word in reversed(self.ordered) if not word.isascii())
        found = {bare: word for word in accented for bare in spelling.unaccented_spellings(word)}
        return {bare: word for bare, word in found.items() if bare not in self.words}

    def word_class(self, word: str) -> WordClass:
        """
        >>> KnownWords(["cat", "German"]).word_class("Germans")
        'translated'
        """
        if word in self.copied:
            return "copied"
        if word in self.rare:
            return "rare"
        if word in self.words:
            return "translated" if word != word.lower() else "ordinary"
        lower = word.lower()
        if lower in self.words:
            return "ordinary"
        if "-" in word and all(self.word_class(part) in ("ordinary", "translated") for part in word.split("-")):
            return "translated"  # Mexican-American
        for ending in ("s", "es"):  # forms of known words are known: Germans
            if lower.endswith(ending):
                if word[: -len(ending)] in self.words:
                    return "translated"
                if lower[: -len(ending)] in self.words:
                    return "ordinary"
        return "unknown"

    def unfamiliar(self, text: str, language: str = "en") -> Set[str]:
        """Returns the words of a text that are not known, nor in lower case, and the rare names: only these are names
        or misspelled, but for a known word with a capital inside (iPhone), which may be a name.

        >>> known = KnownWords(["the", "cat", "Baker"], ["Tom"], ["Baker"])
        >>> sorted(known.unfamiliar("The cat. Mr Baker, the cta"))
        ['Baker', 'Mr', 'cta']
        """
        if language not in self._unfamiliar:  # no word extends over a space
            self._unfamiliar[language] = PartCache(partial(self._unfamiliar_forms, language))
        return set(self._unfamiliar[language](text))

    def _unfamiliar_forms(self, language: str, text: str) -> list[str]:
        forms = [text] if text.isalpha() else cased_forms(text, language)
        return [form for form in forms if form in self.rare or self.words.isdisjoint((form, form.lower()))]

    def truecased(self, word: str) -> str:
        """Capitalizes a word in lower case, if it is known only or far more often with a capital.

        >>> [KnownWords(["Haus", "grün"], ["Tom"]).truecased(word) for word in ("haus", "grün", "tom", "xyz")]
        ['Haus', 'grün', 'Tom', 'xyz']
        >>> KnownWords(["Turkey", "turkey"]).truecased("turkey")
        'Turkey'
        """
        other = capitalize_first(word)
        return other if other in self.words or (other in self.copied and word not in self.words) else word

    @cached_property
    def _shortened(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(map(spelling.without_a_letter, self.ordered[: spelling.MAX_INNER_RANK])))

    def _likely_correction(self, word: str) -> str | None:
        may_have_one = spelling.may_have_correction(word, self.ranks, self._shortened)
        return spelling.likely_correction(word, self.ranks) if may_have_one else None

    def is_name(self, word: str, at_start: bool, language: str = "en") -> bool:
        """Whether a word is a name to copy; `at_start`: it begins a sentence, where any word has a capital."""
        if word.islower():
            return False
        found = self.word_class(word)
        if at_start and found == "unknown":
            lower = word.lower()
            known_form = lower in self._accented or is_inflected_form(lower, self.words, language)
            return not known_form and not self._is_misspelled_at_start(lower)
        return found == "unknown" or (found == "rare" and not at_start)

    def _is_misspelled_at_start(self, lower: str) -> bool:
        """Whether a word that begins a sentence is a misspelled frequent word rather than a name."""
        if not self.ranks:
            return spelling.is_transposed(lower, self.words)
        if (found := self._likely_correction(lower)) is None:
            return False
        transposed = spelling.is_transposed(lower, self.words)
        if len(lower) < START_LETTERS:
            return (transposed or len(lower) == START_LETTERS - 1) and self.ranks[found] < START_SHORT_RANK
        return self.ranks[found] < (START_TRANSPOSED_RANK if transposed else START_RANK)

    def may_be_misspelled(self, word: str, language: str = "en") -> bool:
        """Returns False for most words that have no `correction` anywhere in a sentence, far faster."""
        lower = word.lower()
        if len(word) > spelling.MAX_LETTERS:
            return not self.ranks or lower in self._accented or lower[:-1] in self.ranks
        forms = {word, lower} if language in NOUN_CAPITALIZING_LANGUAGES else {lower}
        return (
            not self.ranks
            or lower in self._accented
            or any(spelling.may_have_correction(form, self.ranks, self._shortened) for form in forms)
            or spelling.split_words_run_together(word, self.ranks) is not None
        )

    def correction(self, word: str, at_start: bool = False, language: str = "en") -> str | None:
        """Returns the only known word that a word in lower case can be a misspelling of, or the one that is far more
        frequent than the others (`spelling.py`); None if the word is known, or if there is no such word. A word with a
        capital is corrected only at the beginning of a sentence (`at_start`), and in languages that capitalize nouns.

        >>> KnownWords(["station", "cat", "cart"]).correction("sttion"), KnownWords(["cat"]).correction("cats")
        ('station', None)
        """
        lower = word.lower()
        capitalized = word[:1].isupper() and word[1:].islower()
        doubled_end = word.islower() and word[-1:] == word[-2:-1] and word not in self.ranks  # "thiss" looks inflected
        if doubled_end and self.ranks.get(word[:-1], spelling.MAX_EDGE_RANK) < spelling.MAX_EDGE_RANK:
            return word[:-1]
        if self.word_class(word) != "unknown" or is_inflected_form(lower, self.words, language):
            return None
        if (accented := self._accented.get(lower)) and (word.islower() or (capitalized and at_start)):
            return accented if word.islower() else capitalize_first(accented)
        if capitalized and at_start:
            found = self._likely_correction(lower) if self._is_misspelled_at_start(lower) else None
            return found and capitalize_first(found)
        nouns = language in NOUN_CAPITALIZING_LANGUAGES
        if not word.islower() and not (capitalized and nouns and len(word) >= MIN_NOUN_LETTERS):
            return None
        if self.ranks:
            found = self._likely_correction(word)
            return found or (None if nouns else spelling.split_words_run_together(word, self.ranks))
        candidates = spelling.spelling_candidates(word, self.words)
        return candidates.pop() if len(candidates) == 1 else None

    def save(self, path: Path) -> None:
        names = sorted([*(f"+{word}" for word in self.copied), *(f"={word}" for word in self.rare)])
        first = FIRST_LINE if self.ordered else FIRST_LINE_UNORDERED
        content = "\n".join([first, *names, *(self.ordered or sorted(self.words)), ""]).encode()
        write_atomically(path, lambda temporary: temporary.write_bytes(gzip.compress(content, mtime=0)))

    @classmethod
    def load(cls, path: Path) -> KnownWords:
        """Reads a file, which may be shared: French words are those of the source for one model, and of the target for
        another."""
        state = path.stat()
        return _files.get((path.resolve(), state.st_mtime_ns, state.st_size), lambda: cls._read(path))

    @classmethod
    def _read(cls, path: Path) -> KnownWords:
        try:
            with gzip.open(path) as file:
                content = file.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:
                raise InputError(f"{path} has more than {MAX_BYTES:,} bytes; it is not a file of known words")
            first, *lines = content.decode().split("\n")
        except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error):
            first, lines = "", []
        if first not in (FIRST_LINE, FIRST_LINE_UNORDERED):
            raise InputError(
                f'{path}: not a file of known words: lines compressed by gzip, the first one "{FIRST_LINE}"'
            )
        marked = [line for line in lines if line[:1] in ("+", "=")]
        copied, rare = ([line[1:] for line in marked if line[0] == mark] for mark in "+=")
        words = [line for line in lines if line and line[0] not in "+="]
        return cls(words, copied, rare, by_frequency=first == FIRST_LINE)


_files = SharedObjects[KnownWords]()


def word_parts(text: str) -> set[str]:
    """Returns the words of a text, and the parts of those joined by an apostrophe or a hyphen.

    >>> sorted(word_parts("l'Angleterre"))
    ['Angleterre', 'l', "l'Angleterre"]
    """
    parts = set()
    for word in WORD.findall(text):
        straight = word.replace("’", "'")
        after = straight.rpartition("'")[2]
        parts.update([word, after, straight.partition("'")[0], *after.split("-")])
    return parts
