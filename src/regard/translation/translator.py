"""Text in, text out: a bundle, or several as an ensemble, as a translator.

A text is cut into units (`units.py`), each prepared for the model (`prepare.py`), translated, checked and judged
(`pipeline.py`), and put together again (`assemble.py`). The result for a text does not depend on the other texts. A
lexicon and a rule system may be mixed in (`steering.py`), and unknown words replaced (`unknown.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict, Unpack

from regard.errors import InputError
from regard.search.options import (
    BATCH_TOKENS,
    Mbr,
    Precision,
    Sampling,
    SearchOptions,
    checked_precision,
)
from regard.text.glossary import Glossary
from regard.text.normalize import check_characters
from regard.translation.job import JobPart, TranslationJob
from regard.translation.options import (
    StreamTranslation,
    TranslateOptions,
    checked_prefixes,
    checked_texts,
    translate_method,
)
from regard.translation.prepare import Split, TextOptions
from regard.translation.scoring import ScoringModel
from regard.translation.units import Unit

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from regard.translation.unknown import Unknown


class MeasuringOptions(TypedDict):
    """The options that leave a model alone with its lines."""

    split: Split
    protect: bool
    guard: bool
    precision: Precision


# For measuring a model on lines that are sentences, as test sets are.
AS_LINES: MeasuringOptions = {"split": "lines", "protect": False, "guard": False, "precision": "float32"}


class TextTranslator(StreamTranslation, ScoringModel):
    """A bundle that translates and scores text. `regard.Translator` adds explanation and alignment."""

    def _job(
        self,
        texts: str | Iterable[str],
        *,
        beam: int | None = None,
        nbest: int = 1,
        length_penalty: float | None = None,
        steer: float = 0.0,
        rules: float = 0.0,
        unknown: Unknown = "keep",
        tag: str | None = None,
        split: Split = "sentences",
        protect: bool = True,
        mend: bool | None = None,
        localize: bool = False,
        glossary: Glossary | None = None,
        guard: bool = True,
        no_repeat: int = 0,
        repetition_penalty: float = 1.0,
        coverage_penalty: float = 0.0,
        min_length: int = 0,
        max_length: int | None = None,
        exact: bool = False,
        groups: int = 1,
        diversity: float = 0.5,
        sampling: Sampling | None = None,
        mbr: Mbr | None = None,
        prefix: str | Sequence[str] = "",
        batch_tokens: int = BATCH_TOKENS,
        precision: Precision = "auto",
        progress: Callable[[int], None] | None = None,
    ) -> TranslationJob:
        """The translation of a string, or the list of translations of several, in their order.

        beam            hypotheses kept per sentence, 1 for greedy search; default: the model's own
        nbest           candidates per translation, at most `beam`; with `sampling` how many are drawn
        length_penalty  α of ((5 + length) / 6)^α; default: the model's own
        steer, rules    weights, from 0 to below 1, of the model's lexicon and of `rule_system`
        unknown         what becomes of <unk>: "keep", "copy" the source word, or look it up in the "lexicon"
        tag             one of the model's tags, put before every source; of a multilingual model, the language to
                        translate into: ">>fra<<", "fra" or "fr"
        split           what is translated at a time: "sentences" of each line; "wrapped": of each paragraph, whose line
                        breaks are only wrapping; "lines": each text as it is, as one sentence
        protect         whether numbers, addresses, placeholders and unknown names must survive as they are
        mend            whether CAPITALS and Title Case are read in small letters, and a misspelt word as the known word
                        that it must be; default: the model's own
        localize        numbers, times and amounts in the form of the target language
        glossary        terms that must be translated as it says (`regard.Glossary.read`)
        guard           judge every sentence: its confidence, and the reasons to doubt it; doubtful ones are tried again
        no_repeat       forbid a run of so many tokens twice; 0 forbids none
        repetition_penalty, coverage_penalty
                        against tokens that were said before, and against source tokens that nothing attends to
        min_length, max_length
                        tokens of each sentence, fewest and most
        exact           stop only when no other hypothesis of the beam can still be among the best
        groups, diversity
                        a diverse beam: groups that avoid each other's tokens, and how strongly
        sampling        draw `nbest` translations at random instead of searching for the best
        mbr             of several samples the one that is most like all of them (`regard.Mbr`)
        prefix          how the translation of every text, or of each of them, begins: in its first sentence. It may end
                        inside a word
        batch_tokens    the most source tokens of a batch
        precision       of searching on a GPU: "float32", "bfloat16", or the GPU's best, "auto"
        progress        called after each batch with the number of sentences that were finished in it

        Paragraphs, line breaks, list marks and spaces between sentences are as in the text. Several threads may
        translate at a time with one translator; results are the same as one after another.
        """
        lines = checked_texts(texts, "translate")
        for line in lines:
            check_characters(line)
        config = self._config(beam, length_penalty, mend)
        search = SearchOptions(
            config.beam, config.length_penalty, nbest, sampling if mbr is None else sampling or Sampling(), no_repeat,
            coverage_penalty, repetition_penalty, groups, diversity, min_length, max_length, exact, mbr,
        )  # fmt: skip
        if batch_tokens < 1:
            raise InputError(f"batch_tokens must be at least 1, but is {batch_tokens}; try 4096")
        text = TextOptions(split, protect, config.mend, localize, glossary, guard)
        starts = checked_prefixes(prefix, texts, len(lines))
        engine = self.engine(self._steered(steer, rules), batch_tokens, checked_precision(precision))
        parts = []
        for own, group in self.tokenizer.by_tag(lines, tag).items():
            filling = self._fill_unknown(unknown, own, batch_tokens)
            pipeline = replace(self.pipeline(search, text, own), engine=engine, fill_unknown=filling)
            units = self.unit_maker(text, own).units(group.items())
            units = self._with_starts(units, starts, search) if any(starts) else units
            key = (search, text, own, unknown, steer, rules, batch_tokens, precision)
            parts.append(JobPart(key, pipeline, units))
            for number, line in group.items():
                lines[number] = line
        return TranslationJob(self, lines, parts, nbest, progress)

    translate = translate_method(_job)

    def job(self, texts: str | Iterable[str], **options: Unpack[TranslateOptions]) -> TranslationJob:
        """The same as work that the caller divides (`job.py`)."""
        return self._job(texts, **options)

    def _with_starts(self, units: Iterable[Unit], prefixes: Sequence[str], search: SearchOptions) -> Iterator[Unit]:
        """The first unit of each text with its prefix."""
        last = -1
        for unit in units:
            first, last = unit.text != last, unit.text
            yield self.started(unit, prefixes[unit.text], search) if first else unit
