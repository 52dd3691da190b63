"""Texts that a translation must contain, as a constraint on its tokens.

Each text is encoded as it stands after a space, as it stands within a run of characters (l'homme), and, for a text in
small letters, with an initial capital at the beginning of the sentence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from regard.decode.constraints import Form, Terms, WordEdges
from regard.text.normalize import nfc
from regard.text.pieces import SPACE, to_pieces_form
from regard.text.tokenizer import Tokenizer

FOUR_BYTES = 0xF0  # first byte of a character of four


class Required(NamedTuple):
    """The constraint, None where nothing is asked for, and the numbers of the texts that the vocabulary lacks."""

    terms: Terms | None
    unsayable: tuple[int, ...]


class RequiredTerms:
    """Makes constraints for one tokenizer; which of its tokens touch a word is found out once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.edges = word_edges(tokenizer)

    def of(self, wanted: Sequence[Sequence[str]]) -> Required:
        """Each of the wanted texts in one of its forms, as often as it is listed."""
        forms = [list(dict.fromkeys(form for text in texts for form in self.forms(text))) for texts in wanted]
        sayable = [some for some in forms if any(form.place == "anywhere" for form in some)]
        missing = tuple(i for i, some in enumerate(forms) if not any(form.place == "anywhere" for form in some))
        return Required(Terms.of(sayable, self.edges) if sayable else None, missing)

    def forms(self, text: str) -> Iterator[Form]:
        """The tokens of a text in each place where it may stand."""
        form = to_pieces_form(nfc(text.strip()))
        if not form:
            return
        spellings = [Form(self._ids(form)), Form(self._ids(form.removeprefix(SPACE)), "joined")]
        if text[0].islower():
            spellings.append(Form(self._ids(SPACE + form[len(SPACE)].upper() + form[len(SPACE) + 1 :]), "first"))
        for spelling in spellings:
            if spelling.tokens and self.tokenizer.unknown not in spelling.tokens:
                yield spelling

    def _ids(self, form: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.target.encode([form])[0])


def word_edges(tokenizer: Tokenizer) -> WordEdges:
    """Which tokens begin or end with a letter, a mark or a digit. A character that is spelled in bytes counts as a
    letter if its first byte is below 0xF0, and else as an emoji."""
    continues, ends = set(), set()
    for i, raw in enumerate(tokenizer.target.bytes):
        if not raw:
            continue
        text = raw.decode("utf-8", "replace")
        spelled = len(raw) == 1 and raw[0] >= 0x80
        if raw[0] < FOUR_BYTES if spelled else _in_word(text[0]):
            continues.add(i)
        if raw[0] < FOUR_BYTES if spelled else _in_word(text[-1]):
            ends.add(i)
    return WordEdges(frozenset(continues), frozenset(ends))


def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"
