"""Texts that a translation must contain, as a constraint on its tokens.

Each text is encoded as it stands after a space and as it stands within a run of characters (l'homme). Where a text is
wanted with and without an initial capital, the capital is for the beginning of the sentence. A constraint says what
must be said, not where: a model that does not know a word says its own translation as well. `wrong_translations` finds
that word, and `never` forbids it in a second search.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from regard.errors import InputError
from regard.search.constraints import NOTHING, ONLY_EOS, Never
from regard.text.pieces import SPACE
from regard.text.tokenizer import Tokenizer
from regard.text.words import Span, WordLink

FOUR_BYTES = 0xF0  # first byte of a character of four
JOINING = "'’-–([{“„«‹¿¡/"  # a word may follow without a space
SHORTEST_OWN = 4  # letters of a word that may be forbidden


class Required(NamedTuple):
    """The constraint, None where nothing is asked for, and the numbers of the texts that the vocabulary lacks."""

    terms: Terms | None
    unsayable: tuple[int, ...]


class RequiredTerms:
    """Makes constraints for one tokenizer; which of its tokens touch a word is found out once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def edges(self) -> WordEdges:
        return word_edges(self.tokenizer)

    def of(self, wanted: Sequence[Sequence[str]]) -> Required:
        """Each of the wanted texts in one of its forms, as often as it is listed."""
        forms = [
            list(dict.fromkeys(form for text in texts for form in self.forms(text, _small(text) in texts)))
            for texts in wanted
        ]
        sayable = [some for some in forms if any(form.place == "anywhere" for form in some)]
        missing = tuple(i for i, some in enumerate(forms) if not any(form.place == "anywhere" for form in some))
        return Required(Terms.of(sayable, self.edges) if sayable else None, missing)

    def never(self, texts: Sequence[str]) -> Never:
        """None of these texts, unless a required one begins like it. Where the first of a word's tokens is only a few
        letters, that one is forbidden: the search would say it and go on with the required word, as in "Le ch matou"
        where "chat" is forbidden."""
        forms = [form.tokens for text in texts for form in self.forms(text)]
        return Never(frozenset(tokens[:1] if self._is_fragment(tokens) else tokens for tokens in forms))

    def _is_fragment(self, tokens: Sequence[int]) -> bool:
        """Whether the first of several tokens is the beginning of a word and too short to be one that is needed."""
        first = self.tokenizer.target.bytes[tokens[0]].decode("utf-8", "replace")
        begins = first.startswith(SPACE) and first[1:].isalpha() and len(first[1:]) < SHORTEST_OWN
        return begins and len(tokens) > 1 and tokens[1] in self.edges.continues

    def forms(self, text: str, first: bool = False) -> Iterator[Form]:
        """The tokens of a text in each place where it may stand; `first`: only at the beginning of the sentence."""
        text = text.strip()
        apart = tuple(self.tokenizer.target.encode([text])[0])
        joined = tuple(self.tokenizer.target.encode_joined(text))
        for one in [Form(apart, "first")] if first else [Form(apart), Form(joined, "joined")]:
            if one.tokens and self.tokenizer.unknown not in one.tokens:
                yield one


def _small(text: str) -> str | None:
    """The text with a small first letter, if its first letter is a capital."""
    return text[0].lower() + text[1:] if text[:1].isupper() else None


def wrong_translations(spans: Sequence[Span], links: Sequence[WordLink], text: str) -> list[str]:
    """The word of a translation that each span of the source became: the longest of those that are linked to it. Short
    words are left out, because articles and prepositions are needed elsewhere in the sentence.

    >>> wrong_translations([(4, 7)], [((0, 3), (0, 2)), ((4, 7), (3, 7)), ((4, 7), (0, 2))], "Le chat dort.")
    ['chat']
    """
    words = []
    for start, end in spans:
        linked = [text[slice(*target)] for source, target in links if start < source[1] and source[0] < end]
        found = max((word for word in linked if word.isalpha() and len(word) >= SHORTEST_OWN), key=len, default=None)
        words += [] if found is None else [found]
    return words


def word_edges(tokenizer: Tokenizer) -> WordEdges:
    """Which tokens begin or end with a letter, a mark or a digit. A character that is spelled in bytes counts as a
    letter if its first byte is below 0xF0, and else as an emoji."""
    continues, ends, joins = set(), set(), set()
    for i, raw in enumerate(tokenizer.target.bytes):
        if not raw:
            continue
        text = raw.decode("utf-8", "replace")
        spelled = len(raw) == 1 and raw[0] >= 0x80
        if raw[0] < FOUR_BYTES if spelled else _in_word(text[0]):
            continues.add(i)
        if raw[0] < FOUR_BYTES if spelled else _in_word(text[-1]):
            ends.add(i)
        if not spelled and text[-1] in JOINING:
            joins.add(i)
    return WordEdges(frozenset(continues), frozenset(ends), frozenset(joins))


def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


MOST_READINGS = 64  # ways to read what was said as phrases; those that need most are forgotten first

Place = Literal["anywhere", "joined", "first"]


class Form(NamedTuple):
    """One way to say a phrase: its tokens, and where they may stand. `joined`: without a space before it, a word only
    after such as l' or a bracket; `first`: at the beginning of the sentence only."""

    tokens: tuple[int, ...]
    place: Place = "anywhere"


class WordEdges(NamedTuple):
    """Which tokens touch the word before or after them: "eau" after "chat" makes another word of it."""

    continues: frozenset[int] = NOTHING  # begin with a letter or digit, no space before it
    ends_in_word: frozenset[int] = NOTHING  # end with a letter or digit
    joins: frozenset[int] = NOTHING  # end with an apostrophe, a hyphen or an opening bracket: no space follows


@dataclass(frozen=True)
class _Reading:
    """One way to read what was said: the phrases that are still to be said, and how far the present one has come."""

    left: tuple[int, ...]  # how often each phrase must still be said
    phrase: int = -1  # the one that was begun or just ended; -1: none
    form: int = 0
    said: int = 0  # tokens of it; all of them: it has ended, unless the next token continues its last word


class _Phrases:
    """What all hypotheses of a sentence share: the forms of each phrase, and how often it must be said."""

    def __init__(self, phrases: Sequence[Sequence[Form]], edges: WordEdges) -> None:
        counts = Counter(tuple(dict.fromkeys(forms)) for forms in phrases)
        for forms in counts:
            if not any(form.tokens and form.place == "anywhere" for form in forms) or not all(f.tokens for f in forms):
                raise InputError("a phrase needs a form of at least one token that may stand anywhere")
        self.forms, self.counts, self.edges = tuple(counts), tuple(counts.values()), edges
        self.shortest = [min(len(form.tokens) for form in forms if form.place == "anywhere") for forms in self.forms]
        self.total = self.need(_Reading(self.counts))
        self.first_tokens = frozenset(form.tokens[0] for forms in self.forms for form in forms)
        self.longest = max((len(form.tokens) for forms in self.forms for form in forms), default=0)

    def need(self, reading: _Reading) -> int:
        rest = sum(n * length for n, length in zip(reading.left, self.shortest, strict=True))
        if reading.phrase < 0 or self.ended(reading):
            return rest
        whole = len(self.forms[reading.phrase][reading.form].tokens)
        return rest - self.shortest[reading.phrase] + whole - reading.said

    def ended(self, reading: _Reading) -> bool:
        return reading.said == len(self.forms[reading.phrase][reading.form].tokens)

    def beginnings(self, reading: _Reading, last: int | None) -> Iterable[tuple[int, int, Form]]:
        """The forms that may begin now: (phrase, its form, the form)."""
        apart = last not in self.edges.joins
        for phrase, n in enumerate(reading.left):
            for number, form in enumerate(self.forms[phrase] if n else ()):
                blocked = form.place == "first" and last is not None
                blocked |= form.place == "joined" and apart and form.tokens[0] in self.edges.continues
                if not blocked:
                    yield phrase, number, form

    def begun(self, left: tuple[int, ...], phrase: int, form: int, said: int) -> _Reading:
        """A reading with so many tokens of a form said; with all of them the phrase is counted as said."""
        if said == len(self.forms[phrase][form].tokens):
            left = (*left[:phrase], left[phrase] - 1, *left[phrase + 1 :])
        return _Reading(left, phrase, form, said)

    def next_readings(self, reading: _Reading, token: int, last: int | None) -> Iterable[_Reading]:
        left = reading.left
        if reading.phrase >= 0:
            tokens = self.forms[reading.phrase][reading.form].tokens
            if not self.ended(reading):
                if tokens[reading.said] == token:
                    yield self.begun(left, reading.phrase, reading.form, reading.said + 1)
                return
            if token in self.edges.continues and tokens[-1] in self.edges.ends_in_word:
                return  # another word now; the reading in which the phrase never began goes on
        yield _Reading(left)
        for phrase, number, form in self.beginnings(reading, last):
            if form.tokens[0] == token:
                yield self.begun(left, phrase, number, 1)


class Terms:
    """Phrases that must be said, each as often as it is given, in any order, without sharing tokens.

    What was said is read in every possible way, so a phrase may begin again in its own middle (a a b in a a a b), and
    "New York" that goes on to be "New York Times" is taken for the one that helps more.

    >>> terms = Terms.of([[(5, 6)], [(7,), (8, 9)]])
    >>> terms.needs, sorted(terms.wanted()), sorted(terms.after(5).wanted()), terms.after(5).after(6).needs
    (3, [5, 7, 8], [6], 1)
    """

    yields = False

    def __init__(self, phrases: _Phrases, readings: frozenset[_Reading], last: int | None = None) -> None:
        self._phrases, self._readings, self._last = phrases, readings, last

    @classmethod
    def of(cls, phrases: Iterable[Iterable[Sequence[int] | Form]], edges: WordEdges | None = None) -> Terms:
        """Each phrase by its forms, of which one must be said: token sequences, or `Form`s."""
        made = [[f if isinstance(f, Form) else Form(tuple(f)) for f in forms] for forms in phrases]
        shared = _Phrases(made, WordEdges() if edges is None else edges)
        return cls(shared, frozenset({_Reading(shared.counts)}))

    @cached_property
    def needs(self) -> int:
        return min(map(self._phrases.need, self._readings))

    @property
    def margin(self) -> int:
        return self._phrases.longest

    @property
    def met(self) -> int:
        return max(0, self._phrases.total - self.needs)

    def forbidden(self) -> frozenset[int]:
        return ONLY_EOS if self.needs else NOTHING

    def wanted(self) -> frozenset[int]:
        """Of the readings that need least: the next token of a phrase that was begun, or the first ones of all."""
        tokens = set()
        for reading in self._readings:
            if self._phrases.need(reading) > self.needs:
                continue
            if reading.phrase >= 0 and not self._phrases.ended(reading):
                tokens.add(self._phrases.forms[reading.phrase][reading.form].tokens[reading.said])
            else:
                tokens |= {form.tokens[0] for _, _, form in self._phrases.beginnings(reading, self._last)}
        return frozenset(tokens) if self.needs else NOTHING

    def after(self, token: int) -> Terms:
        if token not in self._phrases.first_tokens and all(reading.phrase < 0 for reading in self._readings):
            return Terms(self._phrases, self._readings, token)  # the usual case: nothing begun, nothing begins
        made = {r for reading in self._readings for r in self._phrases.next_readings(reading, token, self._last)}
        kept = frozenset(r for r in made if not any(_better(other, r) for other in made))
        if len(kept) > MOST_READINGS:
            kept = frozenset(sorted(kept, key=lambda r: (self._phrases.need(r), r.left, r.phrase))[:MOST_READINGS])
        return Terms(self._phrases, kept, token)


def _better(one: _Reading, other: _Reading) -> bool:
    """Whether a reading is as far within its phrase and has less to say."""
    same_place = (one.phrase, one.form, one.said) == (other.phrase, other.form, other.said)
    return same_place and one.left != other.left and all(a <= b for a, b in zip(one.left, other.left, strict=True))
