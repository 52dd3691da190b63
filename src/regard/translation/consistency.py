"""One register for the sentences of a text or a document, if the model can be asked for both (`text/register.py`).

    translations ─ registers of their sentences ─▶ those of the rarer one ─ searched again with the other's tag ─▶ texts

If no formality is asked for, a model decides for each sentence by itself, and a text may come to mix vous and tu. The
sentences in the rarer register of a document are translated again in the other one; if both are equally frequent, in
the formal one. So at most half of the sentences that show a register are searched twice, and none three times. A
sentence without a recognized register stays as it is, and the second translation is not checked. Texts with a forced
prefix are left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from regard.text.language import Register
from regard.text.register import addresses_reader, register_of
from regard.text.words import Span
from regard.translation.assemble import text_candidates
from regard.translation.job import JobPart, Steps, TranslationJob
from regard.translation.options import TranslateOptions
from regard.translation.translation import SentenceTranslation, Translation, sentence_warnings

Languages = tuple[str | None, str | None]  # ISO codes of source and target, None if unknown
MakeJob = Callable[[list[str], TranslateOptions], TranslationJob]
Place = tuple[int, int]  # a text, and a sentence of it


class ConsistentJob(TranslationJob):
    """The translation of some texts by one model, with the same register in all sentences of a document."""

    def __init__(
        self,
        translator: object,
        lines: Sequence[str],
        parts: Sequence[JobPart],
        options: TranslateOptions,
        languages: Languages,
        job: MakeJob,
    ) -> None:
        """`job` makes the job of the second translation."""
        super().__init__(translator, lines, parts, options.nbest, options.progress)
        self._options, self._languages, self._job = options, languages, job

    def steps(self) -> Steps:
        found = yield self
        again = differing(found, self._options.documents or range(len(found)), self._languages)
        changed: dict[int, dict[int, SentenceTranslation]] = defaultdict(dict)
        for register in sorted(set(again.values())):
            places = [place for place, wanted in again.items() if wanted == register]
            options = replace(self._options, formality=register, split="lines", prefix="", progress=None, documents=())
            second = yield self._job([found[text].sentences[number].source for text, number in places], options)
            for (text, number), one in zip(places, second, strict=True):
                if len(one.sentences) == 1:
                    changed[text][number] = one.sentences[0]
        nbest = self._options.nbest
        return [revised(one, changed[text], nbest) if text in changed else one for text, one in enumerate(found)]


def differing(
    translations: Sequence[Translation], documents: Sequence[int], languages: Languages
) -> dict[Place, Register]:
    """Returns the sentences to translate again, each with the register that most of its document has."""
    source, target = languages
    shown: dict[Place, Register] = {}
    counts: dict[int, Counter[Register]] = defaultdict(Counter)
    for text, translation in enumerate(translations):
        for number, sentence in enumerate(translation.sentences):
            addressed = source == "en" and addresses_reader(sentence.source)
            if register := register_of(sentence.text, target or "", addressed):
                shown[text, number] = register
                counts[documents[text]][register] += 1
    usual: dict[int, Register] = {
        document: "formal" if count["formal"] >= count["informal"] else "informal" for document, count in counts.items()
    }
    return {place: usual[documents[place[0]]] for place, one in shown.items() if usual[documents[place[0]]] != one}


def revised(translation: Translation, changed: Mapping[int, SentenceTranslation], nbest: int) -> Translation:
    """Returns a translation with some sentences replaced by translations of their source as texts of their own."""
    parts: list[str] = []
    sentences: list[SentenceTranslation] = []
    length = read = 0
    for number, sentence in enumerate(translation.sentences):
        gap = translation.text[read : sentence.target_span[0]]
        read, length = sentence.target_span[1], length + len(gap)
        new = changed.get(number, sentence)
        source = sentence.source_span[0] - new.source_span[0]
        sentences.append(_moved(new, source, length - new.target_span[0]))
        parts += [gap, new.text]
        length += len(new.text)
    text = "".join(parts) + translation.text[read:]
    candidates = text_candidates(translation.source, text, sentences, nbest)
    best = candidates[0]
    return Translation(
        translation.source,
        text,
        best.score,
        best.log_prob,
        candidates,
        tuple(sentences),
        sentence_warnings(sentences),
    )


def _moved(sentence: SentenceTranslation, source: int, target: int) -> SentenceTranslation:
    """Moves a sentence by some characters in the source and in the translation."""

    def moved(span: Span, by: int) -> Span:
        return span[0] + by, span[1] + by

    links = (
        None if sentence.alignment is None else [(moved(a, source), moved(b, target)) for a, b in sentence.alignment]
    )
    return replace(
        sentence,
        source_span=moved(sentence.source_span, source),
        target_span=moved(sentence.target_span, target),
        alignment=None if links is None else tuple(links),
        protected=tuple(
            replace(one, source=moved(one.source, source), target=one.target and moved(one.target, target))
            for one in sentence.protected
        ),
    )
