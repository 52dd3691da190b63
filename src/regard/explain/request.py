"""What is explained: a sentence as `translate` reads it, and the translation that `translate` gives.

Every explanation starts here, so all of them are about the same text and the same search: the model's own mending,
beam, length penalty and longest sentence, unless a beam or a length penalty is given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from regard.bundle.bundle import Bundle
from regard.bundle.search_config import DecodeConfig
from regard.decode.translator import TextTranslator
from regard.errors import InputError
from regard.text.mend import Mended, mended


@dataclass(frozen=True)
class Request:
    """One sentence that is to be explained."""

    translator: TextTranslator
    text: str  # as it was given
    mended: Mended
    search: DecodeConfig

    @property
    def bundle(self) -> Bundle:
        return self.translator.bundle

    @property
    def source(self) -> str:
        """As the model reads it."""
        return self.mended.read

    def target_ids(self, target: str | None = None) -> tuple[int, ...]:
        """Of the given target, else of the translation, without EOS."""
        if target is not None:
            return tuple(self.bundle.tokenizer.encode_target([target])[0])
        beam, penalty = self.search.beam, self.search.length_penalty
        (found,) = self.translator.translate([self.text], beam=beam, length_penalty=penalty, mend=self.search.mend)
        return found.candidates[0].ids

    def translation(self, target: str) -> str:
        """What `translate` prints for what the model said: in capitals where the text was, with what was left out."""
        return self.mended.restore(target)


def request(
    model: TextTranslator | Bundle, text: str, *, beam: int | None = None, length_penalty: float | None = None
) -> Request:
    """Raise unless the text is one sentence that the model reads in one part."""
    if isinstance(model, Bundle):
        model = TextTranslator(model)
    search = model.config
    if beam is not None:
        search = replace(search, beam=beam)
    if length_penalty is not None:
        search = replace(search, length_penalty=length_penalty)
    if not text.strip():
        raise InputError("there is nothing to explain: the text is empty; give one sentence")
    rough = mended(text) if search.mend else Mended("", text, "")
    if not rough.read.strip():
        raise InputError(
            f'there is nothing to explain: "{text}" has no words and is copied as it is; give one sentence'
        )
    tokens = len(model.tokenizer.encode_source([rough.read])[0])
    if tokens >= model.max_length:  # EOS takes the last place
        raise InputError(
            f"the text has {tokens} tokens, but the model reads fewer than {model.max_length} at a time; "
            "give a shorter sentence"
        )
    return Request(model, text, rough, search)
