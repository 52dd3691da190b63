"""Translation by rules: parse the English with the embedded grammar, write the French.

A parse counts only if the English that the grammar writes for it is the given sentence, character by character. A
sentence outside the grammar gives None.

On the embedded corpus this is an upper bound by construction, because the references come from the same grammar; the
agreement says nothing about the quality of the French. Nothing is learnt and no sentence is looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from regard.course.grammar.corpus import finish
from regard.course.grammar.nouns import NAMES
from regard.course.rules.parser import Parser
from regard.text.words import split_words

_MOST_PARSES = 50  # tried for one sentence


def translate(line: str) -> str | None:
    """
    >>> translate("The animal didn't cross the street because it was too wide.")
    "L'animal n'a pas traversé la rue parce qu'elle était trop large."
    >>> translate("Colourless green ideas sleep furiously.") is None
    True
    """
    words = split_words(line)
    if len(words) < 2 or words[-1] not in (".", "?"):
        return None
    if words[0].removesuffix("'s") not in NAMES and words[0] != "I":
        words[0] = words[0].lower()
    parser, mark = Parser(), words[-1]
    parses = (parser.question if mark == "?" else parser.sentence)(tuple(words[:-1]))
    for pair in islice(parses, _MOST_PARSES):
        written = finish(parser.d, pair, mark).example
        if written.src == line:
            return written.tgt
    return None


def translate_all(lines: Iterable[str]) -> list[str | None]:
    return [translate(line) for line in lines]
