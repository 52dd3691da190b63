"""A source and a translation that is given, as the model reads the one and would have said the other.

The source is prepared as `translate` prepares it, as one sentence; the target has slots where the source has them, and
what surrounds the sentence is left out of both. A source of which nothing is read, or that is too long for one part, is
taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.decode.translation import Span
from regard.decode.units import UnitMaker
from regard.errors import InputError
from regard.text.slots import NO_SLOTS, SlotTexts


@dataclass(frozen=True)
class ForcedPair:
    """Both sides in text and in ids, without EOS. Origins lead from each character to the text as it was given."""

    read: str
    answer: str
    source_ids: tuple[int, ...]  # with the tag's
    target_ids: tuple[int, ...]
    source_origins: tuple[Span, ...]
    target_origins: tuple[Span, ...]
    slots: SlotTexts = NO_SLOTS

    def check_length(self, max_length: int, method: str, number: int) -> None:
        """Raise where the model has no room for a side and its EOS."""
        if max(len(self.source_ids), len(self.target_ids)) >= max_length:
            raise InputError(
                f"{method} reads sentences of fewer than {max_length} tokens, but pair {number} has "
                f"{len(self.source_ids)} and {len(self.target_ids)}; give its sentences one by one"
            )


def forced_pair(maker: UnitMaker, source: str, target: str) -> ForcedPair:
    """`maker` must take a text as one sentence (split "lines")."""
    tokenizer = maker.tokenizer
    units = list(maker.units([(0, source)]))
    if len(units) == 1 and units[0].ids:
        (unit,) = units
        sentence, at = unit.prepared, unit.span[0]
        inset = len(target) - len(target.lstrip())
        answer = sentence.as_said(target.strip())
        answer_origins = tuple((inset + start, inset + end) for start, end in answer.origins)
        origins = tuple((at + start, at + end) for start, end in sentence.origins)
        (target_ids,) = tokenizer.encode_target([answer.text])
        texts = sentence.read, answer.text, unit.ids, tuple(target_ids)
        return ForcedPair(*texts, origins, answer_origins, sentence.slots)
    (source_ids,), (target_ids,) = tokenizer.encode_source([source]), tokenizer.encode_target([target])
    texts = source, target, (*maker.prefix, *source_ids), tuple(target_ids)
    return ForcedPair(*texts, _places(source), _places(target))


def _places(text: str) -> tuple[Span, ...]:
    return tuple((at, at + 1) for at in range(len(text)))
