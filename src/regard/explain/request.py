"""What is explained: a sentence of a text as `translate` reads it, and the translation that `translate` gives.

Every explanation starts here, so all of them are about the same text and the same search: the model's own preparation,
beam, length penalty and longest sentence, unless a beam or a length penalty is given, and the second search where the
guard took that. What was put into a translation after the search is in `Said.translation`, not in its ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.errors import InputError
from regard.search.options import SearchOptions
from regard.text.slots import SlotTexts
from regard.translation.options import TranslateOptions
from regard.translation.pipeline import Pipeline, UnitResult
from regard.translation.prepare import PreparedSentence
from regard.translation.translator import TextTranslator
from regard.translation.units import Unit

REPAIRED = "repaired after the search"


class TooLongError(InputError):
    """A sentence that the model does not read in one part."""


class WhichSentenceError(InputError):
    """A text of several sentences of which none was chosen, or one that is not there."""


@dataclass(frozen=True)
class Said:
    """A translation that is explained."""

    ids: tuple[int, ...]  # as the model says it, without EOS
    translation: str  # as `translate` gives it
    how: str  # "forced", "greedy", "beam 5", and what else was done


@dataclass(frozen=True)
class Request:
    """One sentence that is to be explained."""

    translator: TextTranslator
    unit: Unit
    search: DecodeConfig
    guard: bool = True
    sentences: int = 1  # of the text that it stands in

    @property
    def bundle(self) -> Bundle:
        return self.translator.bundle

    @property
    def sentence(self) -> PreparedSentence:
        return self.unit.prepared

    @property
    def text(self) -> str:
        """The sentence as it was given."""
        return self.sentence.source

    @property
    def source(self) -> str:
        """As the model reads it, with slots."""
        return self.sentence.read

    @property
    def slots(self) -> SlotTexts:
        return self.sentence.slots

    @cached_property
    def pipeline(self) -> Pipeline:
        """What `translate` would use."""
        beam, penalty = self.search.beam, self.search.length_penalty
        text = TranslateOptions(mend=self.search.mend, guard=self.guard)
        return self.translator.pipeline(SearchOptions(beam, penalty, nbest=beam), text)

    @cached_property
    def result(self) -> UnitResult:
        """What `translate` finds for it, with the whole n-best list."""
        return self.pipeline.results([self.unit])[0]

    def said(self, target: str | None = None, nbest: int = 0) -> Said:
        """The given target, else an entry of the n-best list, from 0."""
        if target is not None:
            (ids,) = self.bundle.tokenizer.encode_target([self.sentence.as_model_output(target).text])
            return Said(tuple(ids), target, "forced")
        most = min(self.search.beam, len(self.result.candidates))
        if not 0 <= nbest < most:
            raise InputError(
                f"nbest must be from 0 to {most - 1}, the different translations that the search found, but is "
                f"{nbest}; use a wider beam"
            )
        found = self.result.candidates[nbest]
        plain = self.restored(found.ids)
        how = self.searched()
        return Said(found.ids, found.text, how if found.text == plain else f"{how} · {REPAIRED}")

    def restored(self, ids: Sequence[int]) -> str:
        """What the model says, as it is given back before anything is repaired."""
        answer = self.bundle.tokenizer.decode(ids)
        answer = self.sentence.without_additions(answer) if self.search.mend else answer
        return self.sentence.restore(answer).text

    def searched(self) -> str:
        """The search that was taken, in words.

        "beam 5", or of a doubtful sentence that was searched for again "second search: beam 10, length penalty 1.5"
        """
        taken = self.result.search.options
        name = "greedy" if taken.beam == 1 else f"beam {taken.beam}"
        if taken == self.pipeline.search:
            return name
        penalty = taken.length_penalty != self.search.length_penalty
        changes = [f"length penalty {taken.length_penalty:g}"] if penalty else []
        changes += [f"no {taken.no_repeat} tokens twice"] if taken.no_repeat else []
        return f"second search: {', '.join([name, *changes])}"


def request(
    model: TextTranslator | Bundle,
    text: str,
    *,
    sentence: int | None = None,
    beam: int | None = None,
    length_penalty: float | None = None,
    guard: bool = True,
) -> Request:
    """Raise unless there is one sentence that the model reads in one part. Of a text of several, `sentence` counts
    from 0. `guard`: whether a doubtful one is searched for again, as `translate` does."""
    if isinstance(model, Bundle):
        model = TextTranslator(model)
    model, text = model.for_text(text)
    search = model.config
    if beam is not None:
        search = replace(search, beam=beam)
    if length_penalty is not None:
        search = replace(search, length_penalty=length_penalty)
    units = units_of(model, text)
    count = units[-1].sentence + 1
    if sentence is None and count > 1:
        raise WhichSentenceError(
            f"the text has {count} sentences, but one is explained at a time; choose one by sentence, from 0 to "
            f"{count - 1}, or give one sentence"
        )
    if sentence is not None and not 0 <= sentence < count:
        raise WhichSentenceError(f"sentence must be from 0 to {count - 1} in this text, but is {sentence}")
    parts = [unit for unit in units if unit.sentence == (sentence or 0)]
    if len(parts) > 1:
        tokens = sum(len(part.ids) for part in parts)
        raise TooLongError(
            f"the sentence has {tokens} tokens, but the model reads fewer than {model.max_length} at a time; "
            "give a shorter sentence"
        )
    if not parts[0].ids:
        raise InputError(
            f'there is nothing to explain: "{parts[0].prepared.source}" has no words and is copied as it is; '
            "give one sentence"
        )
    return Request(model, parts[0], search, guard, count)


def units_of(model: TextTranslator, text: str) -> list[Unit]:
    """The sentences of a text, those that are too long in parts, as `translate` reads them; at least one."""
    model, text = model.for_text(text)
    units = list(model.unit_maker(TranslateOptions(mend=model.config.mend)).units([(0, text)]))
    if not units:
        raise InputError("there is nothing to explain: the text is empty; give one sentence")
    return units
