"""Splits texts into units that a model can read: sentences, and clauses of a sentence that is too long.

Nothing here depends on the other texts of a call, so the units of a long text can be made as they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from regard.search.engine import Context, StopSignal
from regard.search.prefix import NO_START, ForcedStart
from regard.text.clauses import clause_spans
from regard.text.fragments import is_fragment
from regard.text.layout import is_list_item
from regard.text.names import is_email_signature
from regard.text.sentences import sentence_spans
from regard.text.tokenizer import Tokenizer
from regard.text.words import Span
from regard.translation.options import TranslateOptions
from regard.translation.prepare import Reader, prepared, translated_phrase, unread
from regard.translation.prepared_sentence import PreparedSentence

MAX_SENTENCE_CHARS = 20_000  # longer sentences are split before anything else
ROOM = 2  # for EOS, and for a possible word-start mark at the beginning of a part
MAX_GREETING_WORDS = 5  # of a sentence that the phrase table may have


@dataclass(frozen=True)
class Unit:
    """The unit of search: a sentence or a part of one."""

    text: int  # index of its text
    sentence: int  # index of its sentence in the text
    span: Span  # in the text
    prepared: PreparedSentence
    ids: tuple[int, ...]  # including the tag, without EOS; empty if nothing is read
    start: ForcedStart = NO_START  # forced beginning of its translation
    stop: StopSignal | None = None  # of its search
    context: Context | None = None  # the sentence before, if it is translated given that one

    def without_source(self) -> Unit:
        """Returns the unit as needed for assembly, without ids, context and stop signal."""
        return replace(self, ids=(), stop=None, context=None)


class _Waiting(NamedTuple):
    """A unit that is not encoded yet."""

    whole: str
    text: int
    sentence: int
    span: Span
    prepared: PreparedSentence


@dataclass(frozen=True)
class UnitMaker:
    """Makes units from texts for one model."""

    tokenizer: Tokenizer  # without a fixed tag
    prefix: Sequence[int]  # ids of the tag
    max_length: int  # maximal tokens of a source, EOS counted
    options: TranslateOptions
    reader: Reader

    def units(self, texts: Iterable[tuple[int, str]], at_a_time: int = 512) -> Iterator[Unit]:
        """Yields the units of numbered texts, in order."""
        waiting: list[_Waiting] = []
        for number, text in texts:
            for sentence, span in enumerate(self._sentences(text)):
                for part in self._short_parts(text, span):
                    waiting.append(_Waiting(text, number, sentence, part, self._prepared(text, part)))
                    if len(waiting) == at_a_time:
                        yield from self._encoded(waiting)
                        waiting = []
        yield from self._encoded(waiting)

    def _sentences(self, text: str) -> list[Span]:
        if self.options.split == "lines":
            stripped = text.strip()
            start = text.index(stripped) if stripped else 0
            return [(start, start + len(stripped))] if stripped else []
        return sentence_spans(text, self._language, wrapped=self.options.split == "wrapped")

    @property
    def _language(self) -> str:
        return self.reader.source or "en"

    def _short_parts(self, text: str, span: Span) -> list[Span]:
        if span[1] - span[0] <= MAX_SENTENCE_CHARS:
            return [span]
        return clause_spans(text, span, lambda part: len(part) <= MAX_SENTENCE_CHARS, self._language)

    def _prepared(self, text: str, span: Span) -> PreparedSentence:
        sentence = text[slice(*span)]
        if self.options.protect and self.options.mend and is_email_signature(text, span):
            return unread(sentence)
        ends = sentence[-1:] == "." and sentence[-2:] != ".."
        fragment = self.options.mend and not ends and is_fragment(text, span, self._language)
        greeting = self.options.mend and ends and sentence.count(" ") < MAX_GREETING_WORDS
        in_table = self.options.phrases and (fragment or greeting)
        if in_table and (known := translated_phrase(sentence, self.options, self.reader)):
            return known
        found = prepared(sentence, self.options, self.reader)
        item = self.options.mend and found.read[:1].islower() and is_list_item(text, span[0], self._language)
        return replace(found, fragment_in=self.reader.target) if fragment or item else found

    def _encoded(self, waiting: Sequence[_Waiting]) -> Iterator[Unit]:
        encoded = self.tokenizer.encode_source([one.prepared.read for one in waiting])
        for one, ids in zip(waiting, encoded, strict=True):
            if self._fits(one.prepared, len(ids)):
                yield self._unit(one, ids)
                continue
            parts = clause_spans(one.whole, one.span, self._text_fits, self._language)
            cut = [one._replace(span=part, prepared=self._prepared(one.whole, part)) for part in parts]
            read = self.tokenizer.encode_source([part.prepared.read for part in cut])
            yield from (self._unit(part, its) for part, its in zip(cut, read, strict=True))

    def _unit(self, one: _Waiting, ids: Sequence[int]) -> Unit:
        return Unit(one.text, one.sentence, one.span, one.prepared, (*self.prefix, *ids) if one.prepared.read else ())

    def _text_fits(self, text: str) -> bool:
        if len(text) > MAX_SENTENCE_CHARS:
            return False
        one = prepared(text, self.options, self.reader)
        return self._fits(one, len(self.tokenizer.encode_source([one.read])[0]) + ROOM)

    def _fits(self, one: PreparedSentence, tokens: int) -> bool:
        slots = sum(not span.omitted for span in one.inner) if self.options.protect and self.reader.slots else 0
        return tokens + len(self.prefix) < self.max_length and slots <= max(1, self.reader.slots)
