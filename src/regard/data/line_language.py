"""Whether lines are in the language that they should be in, fast enough for millions.

The identifier (`text/language.py`) takes a quarter of a millisecond a line. It judges some thousand lines of the
corpus; the words of those it accepts are counted, and a line most of whose words are common among them, and commoner
than in other languages of the corpus, is accepted without it. Only the rest is shown to the identifier, so a line is
never dropped without its verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from regard.data.key_words import key_words
from regard.text.language_identification import foreign_language

SAMPLE = 8_000  # lines that the identifier judges first
FEWEST = 3  # accepted lines that a word must be in
MOST = 0.6  # share of a line's words that must be its language's for the line to be accepted
WORDS = 4  # words of a line that is accepted by its words


@dataclass(frozen=True)
class LineLanguage:
    """The languages of the sides of a corpus, and the words that tell them."""

    languages: tuple[str, ...]
    words: tuple[frozenset[str], ...]

    @classmethod
    def learn(cls, languages: Sequence[str], sides: Sequence[Sequence[str]]) -> LineLanguage:
        """From some lines of each side."""
        counts = []
        for language, lines in zip(languages, sides, strict=True):
            accepted = (line for line in lines[:SAMPLE] if foreign_language(line, language) is None)
            counts.append(Counter(word for line in accepted for word in set(key_words(line))))
        words = []
        for here in counts:
            others = [other for other in counts if other is not here]
            words.append(
                frozenset(
                    word
                    for word, count in here.items()
                    if count >= FEWEST and word.isalpha() and all(count >= 2 * other[word] for other in others)
                )
            )
        return cls(tuple(languages), tuple(words))

    def is_wrong(self, side: int, text: str, words: Sequence[str]) -> bool:
        """Whether a line, of which `words` are the key words, is in another language."""
        known = self.words[side]
        if len(words) >= WORDS and sum(word in known for word in words) >= MOST * len(words):
            return False
        return foreign_language(text, self.languages[side]) is not None
