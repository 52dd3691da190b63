"""The text translator: a bundle, or several as an ensemble, with text in and text out.

A text is split into units (`units.py`), each prepared for the model (`prepare.py`), translated, checked and judged
(`pipeline.py`), and the text is assembled from them (`assemble.py`). The result for a text does not depend on the other
texts. A lexicon and a rule system may be mixed in (`steering.py`), and unknown words replaced (`unknown.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from regard.errors import InputError
from regard.search.options import SearchOptions
from regard.text.pieces import check_characters
from regard.translation.job import JobPart, TextTranslation, TranslationJob
from regard.translation.options import TranslateOptions, check_documents, checked_prefixes, checked_texts
from regard.translation.scoring import ScoringModel
from regard.translation.units import Unit

if TYPE_CHECKING:
    from regard.translation.alternatives import Alternative


class TextTranslator(TextTranslation, ScoringModel):
    """A bundle that translates and scores text. `regard.Translator` adds explanation and alignment."""

    def job(
        self, texts: str | Iterable[str], options: TranslateOptions | None = None, **changes: Any
    ) -> TranslationJob:
        """Returns the work of a call of `translate`, for a caller that runs it in parts (`job.py`)."""
        lines = checked_texts(texts, "translate")
        for line in lines:
            check_characters(line)
        options = TranslateOptions.of(options, changes).resolved(self.config)
        if options.documents:
            check_documents(options.documents, len(lines))
        search = options.search()
        prefixes = checked_prefixes(options.prefix, texts, len(lines))
        options = replace(options, phrases=options.phrases and not any(prefixes))
        engine = self.engine(self._steered(options.steer, options.rules), options.batch_tokens, options.precision)
        # Shared by parts that are translated together; the register is in the ids of their units.
        shared = replace(options, prefix="", progress=None, formality=None, documents=(), in_context=False)
        parts = []
        groups = self.tokenizer.by_tag(lines, options.tag)
        for tag, group in groups.items():
            filling = self._fill_unknown(options.unknown, tag, options.batch_tokens)
            pipeline = replace(self.pipeline(search, options, tag), engine=engine, fill_unknown=filling)
            units = self.unit_maker(options, tag).units(group.items())
            if any(prefixes):
                units = self._with_starts(units, prefixes, search)
            parts.append(JobPart((shared, tag), pipeline, units, self.converted is not None))
            for number, line in group.items():
                lines[number] = line
        registers = self.tokenizer.has_registers and bool(self.tokenizer.register_tags(options.tag))
        context = bool(options.in_context) and list(groups) == [options.tag]
        revision = None
        if (registers or context) and not any(prefixes):
            from regard.translation.revision import SecondPass

            revision = SecondPass(self, self.job, options, registers, context)
        return TranslationJob(self, lines, parts, options.nbest, options.progress, revision)

    def _with_starts(self, units: Iterable[Unit], prefixes: Sequence[str], search: SearchOptions) -> Iterator[Unit]:
        """Adds its prefix to the first unit of each text."""
        last = -1
        for unit in units:
            first, last = unit.text != last, unit.text
            yield self.started(unit, prefixes[unit.text], search) if first else unit

    def alternatives(
        self,
        text: str,
        prefix: str = "",
        *,
        translation: str | None = None,
        position: int | None = None,
        count: int = 5,
        tag: str | None = None,
    ) -> list[Alternative]:
        """Returns the `count` most probable next tokens after `prefix`, or at a word (`position`, from 0) of
        `translation`, by default the model's own, each with the best translation that continues with it. A prefix that
        ends with a space is continued by a new word; otherwise its last word is completed."""
        from regard.translation.alternatives import alternatives, before_word

        (sentence,) = checked_texts(text, "alternatives")
        if prefix and position is not None:
            raise InputError("alternatives come after a prefix, or at the position of a word; give one of them")
        if translation is not None and position is None:
            raise InputError("alternatives in a translation are at the position of a word; give its position")
        search = SearchOptions(self.config.beam, self.config.length_penalty)
        options = TranslateOptions(split="lines", mend=self.config.mend, guard=False)
        units = list(self.unit_maker(options, tag).units([(0, sentence)]))
        if len(units) != 1 or not units[0].ids:
            raise InputError("alternatives are of one sentence with something to translate; give sentences one by one")
        unit = self.started(units[0], prefix, search)
        if position is not None:
            shown = translation
            if shown is None:
                shown = self.translate(sentence, split="lines", tag=tag).text.strip()
            unit = replace(unit, start=before_word(self.tokenizer, unit, shown, position))
        options = replace(options, protect=bool(unit.prepared.protected_tokens))  # to align them, or nothing
        return alternatives(self.pipeline(search, options, tag), unit, count)
