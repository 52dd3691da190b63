"""What is explained: a sentence of a text as `translate` reads it, and the translation that `translate` gives.

Every explanation starts here, so all of them are about the same text and the same search: the model's own preparation,
beam, length penalty and longest sentence, unless a beam or a length penalty is given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from regard.bundle.bundle import Bundle
from regard.bundle.search_config import DecodeConfig
from regard.decode.prepare import PreparedSentence, TextOptions
from regard.decode.translation import SentenceTranslation
from regard.decode.translator import TextTranslator
from regard.errors import InputError


@dataclass(frozen=True)
class Request:
    """One sentence that is to be explained."""

    translator: TextTranslator
    whole: str  # the text that the sentence is part of
    number: int  # of the sentence in it, from 0
    sentence: PreparedSentence
    search: DecodeConfig

    @property
    def bundle(self) -> Bundle:
        return self.translator.bundle

    @property
    def text(self) -> str:
        """The sentence as it was given."""
        return self.sentence.source

    @property
    def source(self) -> str:
        """As the model reads it."""
        return self.sentence.read

    def translated(self, nbest: int = 1) -> SentenceTranslation:
        """What `translate` gives for it."""
        beam, penalty = self.search.beam, self.search.length_penalty
        found = self.translator.translate(self.whole, beam=beam, length_penalty=penalty, nbest=nbest)
        return found.sentences[self.number]

    def target_ids(self, target: str | None = None, nbest: int = 0) -> tuple[int, ...]:
        """Of the given target, else of an entry of the n-best list, from 0; without EOS."""
        if target is not None:
            return tuple(self.bundle.tokenizer.encode_target([self.sentence.unrestored(target)])[0])
        if not 0 <= nbest < self.search.beam:
            raise InputError(
                f"nbest must be from 0 to {self.search.beam - 1}, the beam less one, but is {nbest}; use a wider beam"
            )
        candidates = self.translated(nbest + 1).candidates
        if nbest >= len(candidates):
            raise InputError(
                f"nbest must be from 0 to {len(candidates) - 1}, the hypotheses that the search found, but is {nbest}; "
                "use a wider beam"
            )
        return candidates[nbest].ids

    def translation(self, target: str) -> str:
        """What `translate` prints for what the model said: slots filled, in capitals where the text was."""
        return self.sentence.restore(target).text


def request(
    model: TextTranslator | Bundle,
    text: str,
    *,
    sentence: int | None = None,
    beam: int | None = None,
    length_penalty: float | None = None,
) -> Request:
    """Raise unless there is one sentence that the model reads in one part. Of a text of several, `sentence` counts
    from 0."""
    if isinstance(model, Bundle):
        model = TextTranslator(model)
    search = model.config
    if beam is not None:
        search = replace(search, beam=beam)
    if length_penalty is not None:
        search = replace(search, length_penalty=length_penalty)
    units = list(model.unit_maker(TextOptions(mend=search.mend)).units([(0, text)]))
    if not units:
        raise InputError("there is nothing to explain: the text is empty; give one sentence")
    count = units[-1].sentence + 1
    if sentence is None and count > 1:
        raise InputError(
            f"the text has {count} sentences, but one is explained at a time; choose one by sentence, from 0 to "
            f"{count - 1}, or give one sentence"
        )
    if sentence is not None and not 0 <= sentence < count:
        raise InputError(f"sentence must be from 0 to {count - 1} in this text, but is {sentence}")
    parts = [unit for unit in units if unit.sentence == (sentence or 0)]
    if len(parts) > 1:
        tokens = sum(len(part.ids) for part in parts)
        raise InputError(
            f"the sentence has {tokens} tokens, but the model reads fewer than {model.max_length} at a time; "
            "give a shorter sentence"
        )
    if not parts[0].ids:
        raise InputError(
            f'there is nothing to explain: "{parts[0].prepared.source}" has no words and is copied as it is; '
            "give one sentence"
        )
    return Request(model, text, sentence or 0, parts[0].prepared, search)
