"""Texts that a translation must contain, as a constraint on its tokens.

Each text is encoded as after a space and as within a run of characters (l'homme). If a text is wanted with and without
an initial capital, the capital is for the beginning of the sentence. A constraint requires a text, but not at a certain
place: a model that does not know a term also outputs its own translation of the source word. `wrong_translations` finds
that word, and `never` forbids it in a second search.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from regard.errors import InputError
from regard.search.constraints import NOTHING, ONLY_EOS, Kinds, Never, kinds_of_tokens
from regard.search.engine import Context
from regard.search.options import SearchOptions
from regard.search.prefix import NO_START, ForcedStart
from regard.text.pieces import SPACE
from regard.text.tokenizer import Tokenizer
from regard.text.words import Span, WordLink

FOUR_BYTES = 0xF0  # first byte of a four-byte character
JOINING = "'’-–([{“„«‹¿¡/"  # a word may follow without a space
SHORTEST_OWN = 4  # letters of a word that may be forbidden


class SearchDemand(NamedTuple):
    """The phrases a search must output, each in one of several forms, those it must not, its start and context."""

    phrases: tuple[tuple[str, ...], ...] = ()
    never: tuple[str, ...] = ()
    start: ForcedStart = NO_START
    context: Context | None = None  # only in `context.py`


NO_SEARCH_DEMAND = SearchDemand()


class SearchRun(NamedTuple):
    """The options and the demand of a search."""

    options: SearchOptions
    demand: SearchDemand = NO_SEARCH_DEMAND


class Required(NamedTuple):
    """The constraint, None if nothing is required, and the indices of texts that the vocabulary cannot spell."""

    terms: Terms | None
    unspellable: tuple[int, ...]


class RequiredTerms:
    """Makes constraints for one tokenizer, whose `edges` are computed once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def edges(self) -> WordEdges:
        return word_edges(self.tokenizer)

    def of(self, wanted: Sequence[Sequence[str]]) -> Required:
        """Requires each of the wanted texts in one of its forms, as often as it is listed."""
        forms = [
            list(dict.fromkeys(form for text in texts for form in self.forms(text, _small(text) in texts)))
            for texts in wanted
        ]
        spellable = [some for some in forms if any(form.place == "anywhere" for form in some)]
        missing = tuple(i for i, some in enumerate(forms) if not any(form.place == "anywhere" for form in some))
        return Required(Terms.of(spellable, self.edges) if spellable else None, missing)

    def never(self, texts: Sequence[str]) -> Never:
        """Forbids these texts, unless a required one begins like it. If the first token of a word is only a few letters
        long, that token is forbidden: otherwise the search would generate it and continue with the required word, as in
        "Le ch matou" where "chat" is forbidden."""
        forms = [form.tokens for text in texts for form in self.forms(text)]
        return Never(frozenset(tokens[:1] if self._is_fragment(tokens) else tokens for tokens in forms))

    def _is_fragment(self, tokens: Sequence[int]) -> bool:
        """Whether the first of several tokens is the beginning of a word and too short to be a required word."""
        first = self.tokenizer.target.bytes[tokens[0]].decode("utf-8", "replace")
        begins = first.startswith(SPACE) and first[1:].isalpha() and len(first[1:]) < SHORTEST_OWN
        return begins and len(tokens) > 1 and tokens[1] in self.edges.continues

    def forms(self, text: str, first: bool = False) -> Iterator[Form]:
        """Yields the tokens of a text for each place where it may occur; `first`: only at the sentence beginning."""
        text = text.strip()
        apart = tuple(self.tokenizer.target.encode([text])[0])
        joined = tuple(self.tokenizer.target.encode_joined(text))
        for one in [Form(apart, "first")] if first else [Form(apart), Form(joined, "joined")]:
            if one.tokens and self.tokenizer.unknown not in one.tokens:
                yield one


def _small(text: str) -> str | None:
    """Returns the text with a lower-case first letter, None if its first letter is not a capital."""
    return text[0].lower() + text[1:] if text[:1].isupper() else None


def wrong_translations(spans: Sequence[Span], links: Sequence[WordLink], text: str) -> list[str]:
    """Returns the translation of each span of the source: the longest word linked to it. Short words are left out,
    because articles and prepositions are needed elsewhere in the sentence.

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
    """Finds the tokens that begin or end with a letter, a mark or a digit. A character spelled in bytes counts as a
    letter if its first byte is below 0xF0, and otherwise as an emoji."""
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


MOST_READINGS = 64  # parses of the output into phrases; those that need most are dropped first

Place = Literal["anywhere", "joined", "first"]
Before = Literal["nothing", "joining", "other"]  # the last token: none, one that joins the word after it, another one


class Form(NamedTuple):
    """One tokenization of a phrase, and where it may occur. `joined`: without a space before it, for a word only after
    l', a bracket or the like; `first`: only at the beginning of the sentence."""

    tokens: tuple[int, ...]
    place: Place = "anywhere"


class WordEdges(NamedTuple):
    """The tokens that join the word before or after them: "eau" after "chat" makes another word of it."""

    continues: frozenset[int] = NOTHING  # begin with a letter or digit, no space before it
    ends_in_word: frozenset[int] = NOTHING  # end with a letter or digit
    joins: frozenset[int] = NOTHING  # end with an apostrophe, a hyphen or an opening bracket: no space follows

    def before_next(self, token: int) -> Before:
        return "joining" if token in self.joins else "other"


OTHER_KINDS = 4  # of tokens that are in no phrase


@lru_cache(maxsize=4)
def edge_kinds(edges: WordEdges, size: int) -> Kinds:
    """Returns a kind for each combination of continuing the word before and joining the one after, (size,)."""
    kinds = np.zeros(size, dtype=np.int32)
    kinds[list(edges.continues)] += 1
    kinds[list(edges.joins)] += 2
    return kinds


@dataclass(frozen=True)
class _Reading:
    """One parse of the output: the phrases still required, and the progress within the current one."""

    left: tuple[int, ...]  # how often each phrase is still required
    phrase: int = -1  # index of the phrase begun or just ended; -1: none
    form: int = 0
    generated: int = 0  # its tokens so far; if all, it has ended, unless the next token continues its last word


class _Phrases:
    """Data shared by all hypotheses of a sentence: the forms of each phrase, and how often it is required."""

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
        return rest - self.shortest[reading.phrase] + whole - reading.generated

    def ended(self, reading: _Reading) -> bool:
        return reading.generated == len(self.forms[reading.phrase][reading.form].tokens)

    def beginnings(self, reading: _Reading, before: Before) -> Iterable[tuple[int, int, Form]]:
        """Yields the forms that may begin now: (phrase, index of the form, form)."""
        for phrase, n in enumerate(reading.left):
            for number, form in enumerate(self.forms[phrase] if n else ()):
                blocked = form.place == "first" and before != "nothing"
                blocked |= form.place == "joined" and before != "joining" and form.tokens[0] in self.edges.continues
                if not blocked:
                    yield phrase, number, form

    def begun(self, left: tuple[int, ...], phrase: int, form: int, generated: int) -> _Reading:
        """Returns the reading after `generated` tokens of a form; with all of them the phrase counts as generated."""
        if generated == len(self.forms[phrase][form].tokens):
            left = (*left[:phrase], left[phrase] - 1, *left[phrase + 1 :])
        return _Reading(left, phrase, form, generated)

    def next_readings(self, reading: _Reading, token: int, before: Before) -> Iterable[_Reading]:
        left = reading.left
        if reading.phrase >= 0:
            tokens = self.forms[reading.phrase][reading.form].tokens
            if not self.ended(reading):
                if tokens[reading.generated] == token:
                    yield self.begun(left, reading.phrase, reading.form, reading.generated + 1)
                return
            if token in self.edges.continues and tokens[-1] in self.edges.ends_in_word:
                return  # it became another word; the reading without this phrase continues
        yield _Reading(left)
        for phrase, number, form in self.beginnings(reading, before) if token in self.first_tokens else ():
            if form.tokens[0] == token:
                yield self.begun(left, phrase, number, 1)


@dataclass(frozen=True)
class Terms:
    """Requires phrases, each as often as it is given, in any order, without sharing tokens.

    All parses of the output are tracked, so a phrase may begin again in its own middle (a a b in a a a b), and
    "New York" that continues as "New York Times" counts as whichever leaves less to generate.

    >>> terms = Terms.of([[(5, 6)], [(7,), (8, 9)]])
    >>> terms.needs, sorted(terms.wanted()), sorted(terms.after(5).wanted()), terms.after(5).after(6).needs
    (3, [5, 7, 8], [6], 1)
    """

    phrases: _Phrases
    readings: frozenset[_Reading]
    before: Before = "nothing"
    yields = False

    @classmethod
    def of(cls, phrases: Iterable[Iterable[Sequence[int] | Form]], edges: WordEdges | None = None) -> Terms:
        """Makes a constraint from phrases, each a list of alternative forms: token sequences, or `Form`s."""
        made = [[f if isinstance(f, Form) else Form(tuple(f)) for f in forms] for forms in phrases]
        shared = _Phrases(made, WordEdges() if edges is None else edges)
        return cls(shared, frozenset({_Reading(shared.counts)}))

    @cached_property
    def needs(self) -> int:
        return min(map(self.phrases.need, self.readings))

    @property
    def margin(self) -> int:
        return self.phrases.longest

    @property
    def met(self) -> int:
        return max(0, self.phrases.total - self.needs)

    def forbidden(self) -> frozenset[int]:
        return ONLY_EOS if self.needs else NOTHING

    def wanted(self) -> frozenset[int]:
        """For the readings that need least: the next token of a phrase that was begun, or the first tokens of all."""
        tokens = set()
        for reading in self.readings:
            if self.phrases.need(reading) > self.needs:
                continue
            if reading.phrase >= 0 and not self.phrases.ended(reading):
                tokens.add(self.phrases.forms[reading.phrase][reading.form].tokens[reading.generated])
            else:
                tokens |= {form.tokens[0] for _, _, form in self.phrases.beginnings(reading, self.before)}
        return frozenset(tokens) if self.needs else NOTHING

    def after(self, token: int) -> Terms:
        phrases, before = self.phrases, self.phrases.edges.before_next(token)
        if token not in phrases.first_tokens and all(reading.phrase < 0 for reading in self.readings):
            return Terms(phrases, self.readings, before)  # the usual case: no phrase is open and none begins
        made = {r for reading in self.readings for r in phrases.next_readings(reading, token, self.before)}
        kept = frozenset(r for r in made if not any(_better(other, r) for other in made))
        if len(kept) > MOST_READINGS:
            kept = frozenset(sorted(kept, key=lambda r: (phrases.need(r), r.left, r.phrase))[:MOST_READINGS])
        return Terms(phrases, kept, before)

    def kinds(self, size: int) -> Kinds:
        """Tokens of the phrases each have a kind; the others differ in whether they join the words beside them."""
        own = kinds_of_tokens((t for forms in self.phrases.forms for form in forms for t in form.tokens), size)
        return np.where(own > 0, own + OTHER_KINDS - 1, edge_kinds(self.phrases.edges, size))


def _better(one: _Reading, other: _Reading) -> bool:
    """Whether one reading is at the same place in its phrase as the other and needs less."""
    same_place = (one.phrase, one.form, one.generated) == (other.phrase, other.form, other.generated)
    return same_place and one.left != other.left and all(a <= b for a, b in zip(one.left, other.left, strict=True))
