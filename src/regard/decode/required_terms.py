"""Texts that a translation must contain, as a constraint on its tokens.

Each text is encoded as it stands after a space and as it stands within a run of characters (l'homme). Where a text is
wanted with and without an initial capital, the capital is for the beginning of the sentence. A constraint says what
must be said, not where: a model that does not know a word says its own translation as well. `said_instead` finds that
word, and `never` forbids it in a second search.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from regard.decode.constraints import Never
from regard.decode.term_constraint import Form, Terms, WordEdges
from regard.decode.translation import Span, WordLink
from regard.text.pieces import SPACE
from regard.text.tokenizer import Tokenizer

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


def said_instead(spans: Sequence[Span], links: Sequence[WordLink], text: str) -> list[str]:
    """The word of a translation that each span of the source became: the longest of those that are linked to it. Short
    words are left out, because articles and prepositions are needed elsewhere in the sentence.

    >>> said_instead([(4, 7)], [((0, 3), (0, 2)), ((4, 7), (3, 7)), ((4, 7), (0, 2))], "Le chat dort.")
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
