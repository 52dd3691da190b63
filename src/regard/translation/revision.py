"""A second pass over translated sentences: for the register of their document, and for what a pronoun refers to.

    translations ─ reasons ─▶ sentences to translate again ─ in rounds ─▶ revised sentences ─▶ texts

**Register.** If no formality is asked for, a model that can be asked for both (`text/register.py`) decides for each
sentence by itself, and a text may come to mix vous and tu. The sentences with words of the rarer register of a document
are translated again in the other one; if both are equally frequent, or after "Dear Ms", in the formal one. A sentence
without a recognized register stays as it is. If the second translation, or one for which a formality is asked, has a
word of the other register, it is searched again with a beam of WIDE, and the best candidate without such a word is
taken.

**Context.** A sentence with a pronoun (`text/pronouns.py`) that follows another sentence of its document is translated
again given that one and its translation (`context.py`); if that one has a pronoun too, given also those before it.
Models translate several sentences at a time less well, so the new translation is taken only if it differs in a pronoun
and in little else, and has no stronger mark than the first. A heading, which does not end like a sentence, is no
context, and a list item has none. Where such sentences follow each other, each is translated after the one before.

Texts with a forced prefix are left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from regard.text.language import REGISTERS, Register
from regard.text.layout import is_list_item
from regard.text.pronouns import differ_in_pronoun, has_pronoun
from regard.text.register import FORMAL_SALUTATION, addresses_reader, registers_in
from regard.text.slots import fill
from regard.text.words import Span
from regard.translation.assemble import text_candidates
from regard.translation.context import SentenceBefore, context_job
from regard.translation.job import Steps, TranslationJob
from regard.translation.loaded_model import LoadedModel
from regard.translation.options import TranslateOptions
from regard.translation.translation import SentenceTranslation, Translation, sentence_warnings

MOST_BEFORE = 3  # sentences before; models are trained on up to five neighbours in a line
WIDE = 8  # candidates to choose from for a formality
SALUTATION = 1000  # sentences that a formal salutation outweighs
ROUNDS = 3  # searches one after another; later sentences of a run get the latest translation of the one before
SENTENCE_END = (".", "!", "?", "…", "。", "！", "？")
CLOSING = "\"'”’»)]"  # after the end of a sentence
MakeJob = Callable[[list[str], TranslateOptions], TranslationJob]
Languages = tuple[str | None, str | None]  # ISO codes of source and target, None if unknown
Place = tuple[int, int]  # a text, and a sentence of it
Sentences = dict[Place, SentenceTranslation]


class RegisterUse(NamedTuple):
    """The register of a sentence, and the usual one of its document."""

    own: Register
    usual: Register


@dataclass(frozen=True)
class SecondPass:
    """Translates some sentences of a call of `translate` again."""

    model: LoadedModel
    job: MakeJob  # of a translation without context
    options: TranslateOptions
    registers: bool  # whether the sentences of a document get one register, or that of the options
    context: bool  # whether pronouns are translated in context

    def steps(self, found: list[Translation]) -> Steps:
        """Returns the translations with revised sentences."""
        asked = self.options.formality if self.registers else None
        if asked is None and len(found) == 1 and len(found[0].sentences) == 1:
            return found  # nothing to agree with or to refer to
        languages, documents = self.model.languages(self.options.tag), self.options.documents or range(len(found))
        uses = register_uses(found, documents, languages) if self.registers and asked is None else {}
        in_context = self.context and self.options.supports_context
        before = contexts(found, documents, languages[0]) if in_context else {}
        sentences: Sentences = {(t, n): one for t, text in enumerate(found) for n, one in enumerate(text.sentences)}
        changed: dict[int, dict[int, SentenceTranslation]] = defaultdict(dict)
        for some, register in self._groups(uses, before):
            again = yield self._job(some, register, sentences, before)
            for place, one in zip(some, again, strict=True):
                new = one.sentences[0] if len(one.sentences) == 1 else sentences[place]
                if place not in before or differs(uses, place) or is_better(sentences[place], new, languages[1]):
                    sentences[place] = changed[place[0]][place[1]] = new
        for register in REGISTERS if self.registers else ():
            own = {p: one for p, one in sentences.items() if register == (uses[p].usual if p in uses else asked)}
            for place, new in (yield from self._as_asked(register, own, languages)).items():
                changed[place[0]][place[1]] = new
        nbest = self.options.nbest
        return [revised(one, changed[text], nbest) if text in changed else one for text, one in enumerate(found)]

    def _as_asked(
        self, asked: Register, now: Sentences, languages: Languages
    ) -> Generator[TranslationJob, list[Translation], Sentences]:
        """Returns other translations for the sentences with words of another register than the one asked for."""

        def as_asked(place: Place, text: str) -> bool:
            return shown_registers(now[place].source, text, languages) <= {asked}

        places = [place for place, one in now.items() if one.read and not as_asked(place, one.text)]
        if not places:
            return {}
        options = replace(self._alone(asked), beam=max(WIDE, self.options.beam or 0), nbest=WIDE)
        wide: list[Translation] = yield self.job([now[place].source for place in places], options)
        chosen = {
            place: texts[0]
            for place, one in zip(places, wide, strict=True)
            if (texts := [candidate.text for candidate in one.candidates if as_asked(place, candidate.text)])
        }
        if not chosen:
            return {}
        forced = replace(self._alone(asked), prefix=tuple(chosen.values()))  # to judge, align and check the candidate
        again: list[Translation] = yield self.job([now[place].source for place in chosen], forced)
        found = zip(chosen, again, strict=True)
        return {place: one.sentences[0] for place, one in found if one.sentences and as_asked(place, one.text)}

    def _alone(self, register: Register | None) -> TranslateOptions:
        """Returns the options for sentences by themselves."""
        return replace(
            self.options, formality=register, split="lines", prefix="", progress=None, documents=(), in_context=False
        )

    def may_revise(self, sentence: SentenceTranslation) -> bool:
        """Whether a sentence can be revised, whatever the others are."""
        languages = self.model.languages(self.options.tag)
        in_context = self.context and bool(sentence.read) and has_pronoun(sentence.source, languages[0])
        return in_context or (self.registers and bool(shown_registers(sentence.source, sentence.text, languages)))

    def _groups(
        self, uses: Mapping[Place, RegisterUse], before: Mapping[Place, Place]
    ) -> Iterator[tuple[list[Place], Register | None]]:
        """Yields the sentences that can be translated together, all in context or none, and the register to ask for."""
        differing = [place for place in uses if differs(uses, place) and place not in before]
        for places in (differing, *rounds(before)):
            groups: dict[Register | None, list[Place]] = defaultdict(list)
            for place in places:
                groups[uses[place].usual if place in uses else self.options.formality].append(place)
            for register, some in groups.items():
                yield some, register

    def _job(
        self, places: Sequence[Place], register: Register | None, now: Sentences, before: Mapping[Place, Place]
    ) -> TranslationJob:
        options, sources = self._alone(register), [now[place].source for place in places]
        if places[0] not in before:
            return self.job(sources, options)
        return context_job(self.model, sources, [context_of(place, before, now) for place in places], options)


# ── reasons ──


def register_uses(
    translations: Sequence[Translation], documents: Sequence[int], languages: Languages
) -> dict[Place, RegisterUse]:
    """Returns the sentences that show a register, and the one that most of their document show. A sentence that shows
    both has the rarer one, so that it is translated again."""
    shown: dict[Place, set[Register]] = {}
    counts: dict[int, Counter[Register]] = defaultdict(Counter)
    for text, translation in enumerate(translations):
        for number, sentence in enumerate(translation.sentences):
            if registers := shown_registers(sentence.source, sentence.text, languages):
                shown[text, number] = registers
                counts[documents[text]].update(registers)
            if languages[0] == "en" and FORMAL_SALUTATION.match(sentence.source):
                counts[documents[text]]["formal"] += SALUTATION
    usual: dict[int, Register] = {
        document: "formal" if count["formal"] >= count["informal"] else "informal" for document, count in counts.items()
    }
    uses: dict[Place, RegisterUse] = {}
    for place, registers in shown.items():
        most = usual[documents[place[0]]]
        uses[place] = RegisterUse((registers - {most} or {most}).pop(), most)
    return uses


def shown_registers(source: str, text: str, languages: Languages) -> set[Register]:
    return registers_in(text, languages[1] or "", languages[0] == "en" and addresses_reader(source))


def differs(uses: Mapping[Place, RegisterUse], place: Place) -> bool:
    """Whether a sentence shows another register than most of its document."""
    return place in uses and uses[place].own != uses[place].usual


def contexts(translations: Sequence[Translation], documents: Sequence[int], language: str | None) -> dict[Place, Place]:
    """Returns the sentences to translate in context, each with the sentence before it."""
    found: dict[Place, Place] = {}
    last: dict[int, tuple[Place, SentenceTranslation]] = {}  # of each document
    for text, translation in enumerate(translations):
        for number, sentence in enumerate(translation.sentences):
            place, start = (text, number), sentence.source_span[0]
            before = last.get(documents[text])
            refers = bool(sentence.read) and has_pronoun(sentence.source, language)
            item = refers and is_list_item(translation.source, start, language or "en")
            if refers and before and is_context(before[1]) and not item:
                found[place] = before[0]
            last[documents[text]] = place, sentence
    return found


def is_context(sentence: SentenceTranslation) -> bool:
    """Whether a sentence can be the context of the next one: a whole sentence, not in capitals, that was translated."""
    source = sentence.source
    return bool(sentence.read) and not source.isupper() and source.rstrip(CLOSING).endswith(SENTENCE_END)


def context_of(place: Place, before: Mapping[Place, Place], now: Sentences) -> SentenceBefore:
    """Returns the sentences that a model should read before one, as one text: the sentence before, and if that has a
    pronoun itself, those before it, up to MOST_BEFORE. They are as a model reads them, but with the texts of slots."""
    some: list[SentenceTranslation] = []
    while place in before and len(some) < MOST_BEFORE:
        place = before[place]
        some.insert(0, now[place])
    sources = (fill(one.read, one.slots.source) for one in some)
    return SentenceBefore(" ".join(sources), " ".join(one.text for one in some))


def rounds(before: Mapping[Place, Place]) -> list[list[Place]]:
    """Divides sentences into rounds, so that each comes after the one before it, if that is revised too.

    >>> rounds({(0, 1): (0, 0), (0, 2): (0, 1), (0, 5): (0, 4)})
    [[(0, 1), (0, 5)], [(0, 2)]]
    """
    found: list[list[Place]] = []
    number: dict[Place, int] = {}
    for place, one in before.items():
        number[place] = at = min(number.get(one, -1) + 1, ROUNDS - 1)
        if at == len(found):
            found.append([])
        found[at].append(place)
    return found


def is_better(first: SentenceTranslation, second: SentenceTranslation, language: str | None) -> bool:
    """Whether the translation in context replaces the first: it differs in a pronoun, has no stronger mark, and has
    not lost the capital at its beginning."""
    stronger = second.mark is not None and second.mark != first.mark and first.mark != "doubtful"
    if not second.candidates or second.text == first.text or stronger:
        return False
    lost = _first_letter(second.text).islower() and not _first_letter(first.text).islower()
    return not lost and differ_in_pronoun(first.text, second.text, language)


def _first_letter(text: str) -> str:
    return next(filter(str.isalpha, text), "")


# ── texts ──


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
