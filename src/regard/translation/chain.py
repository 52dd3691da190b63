"""Chains of translators: from French to German by way of English.

    French text ─ first ─▶ English sentences ─ second, each by itself ─▶ German sentences ─▶ German text

The sentences are those of the first step. The properties of a sentence combine both steps:

    spans, alignment   from the source to the target; a link goes through the words between them
    confidence         the product of both; it is not calibrated
    reasons            those of both, each with its step
    protected          the status of each span after the last step

A chain of no translators returns every text unchanged. A chain has no attention of its own: only a single step can be
explained.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from regard.errors import InputError
from regard.text.glossary import Glossary, GlossaryTerm
from regard.text.language import language_name
from regard.text.pieces import check_characters
from regard.text.words import Span, WordLink
from regard.translation.job import Steps, TextTranslation
from regard.translation.options import TranslateOptions, check_documents, checked_texts
from regard.translation.translation import (
    Candidate,
    ProtectedSpan,
    Reason,
    SentenceTranslation,
    Translation,
    copied,
    sentence_warnings,
)
from regard.translation.translator import TextTranslator

# Options of `translate` that a chain does not support.
OF_ONE_MODEL = ("nbest", "steer", "rules", "unknown", "tag", "prefix")
DEFAULTS = TranslateOptions()


class TextChain(TextTranslation):
    """A chain that only translates; `regard.load("fr-de", through="en")` makes one."""

    def __init__(self, steps: Sequence[TextTranslator]) -> None:
        self.steps = tuple(steps)
        self.rule_system = None
        self.load_options: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' → '.join(map(repr, self.steps))})"

    @property
    def folders(self) -> list[Path]:
        """The folders of the models, in the order of the steps."""
        return [folder for step in self.steps for folder in step.folders]

    @property
    def engine_name(self) -> str:
        return " → ".join(step.engine_name for step in self.steps) or "none"

    def languages(self, tag: str | None = None) -> tuple[str | None, str | None]:
        """ISO codes of source and target, None if unknown; a chain has no tag."""
        return (self.steps[0].languages()[0], self.steps[-1].languages()[1]) if self.steps else (None, None)

    def job(self, texts: str | Iterable[str], options: TranslateOptions | None = None, **changes: Any) -> ChainJob:
        """Returns the work of a call of `translate`, for a caller that runs it in parts. Raises InputError for options
        of a single model: nbest, prefix, tag, steer, rules and unknown. Glossary terms pass the first step unchanged,
        and the last one translates them."""
        lines = checked_texts(texts, "translate")
        options = TranslateOptions.of(options, changes)
        self._check(options)
        if options.documents:
            check_documents(options.documents, len(lines))
        for line in lines:
            check_characters(line)
        return ChainJob(self.steps, lines, options)

    def _check(self, options: TranslateOptions) -> None:
        for name in OF_ONE_MODEL:
            if self.steps and getattr(options, name) != getattr(DEFAULTS, name):
                raise InputError(
                    f"{name} is an option of one model, but this is a chain of {len(self.steps)}; leave it out",
                    parameter=name,
                )

    def raise_unsupported(self, what: str) -> NoReturn:
        """Raises InputError for a method that only a single model supports."""
        names = [str(step.folders[0].name) for step in self.steps if step.folders]
        steps = f"that of one of its steps: {', '.join(names)}" if names else "a model"
        raise InputError(f"{what} needs a single model, but this is a chain of {len(self.steps)}; use {steps}")

    def explain(self, *texts: object, **options: object) -> NoReturn:
        self.raise_unsupported("an explanation")

    def align(self, *texts: object, **options: object) -> NoReturn:
        self.raise_unsupported("an alignment of given texts")

    def score(self, *texts: object, **options: object) -> NoReturn:
        self.raise_unsupported("a score")

    def alternatives(self, *texts: object, **options: object) -> NoReturn:
        self.raise_unsupported("a list of alternatives")


class ChainJob(NamedTuple):
    """The work of a chain on some texts."""

    translators: tuple[TextTranslator, ...]
    lines: list[str]
    options: TranslateOptions

    def steps(self) -> Steps:
        found = [copied(line) for line in self.lines]
        texts = self.options.documents or range(len(self.lines))
        for number, step in enumerate(self.translators):
            options = _at_step(self.options, number, len(self.translators))
            if number == 0:
                found = yield from step.job(self.lines, options).steps()
                continue
            documents = tuple(text for text, one in zip(texts, found, strict=True) for _ in one.sentences)
            sentences = [sentence.text for one in found for sentence in one.sentences]
            after = iter((yield from step.job(sentences, replace(options, documents=documents)).steps()))
            names = [_name(self.translators[number - 1]), _name(step)]
            found = [joined(one, [next(after) for _ in one.sentences], names, number == 1) for one in found]
        return found


def _at_step(options: TranslateOptions, number: int, steps: int) -> TranslateOptions:
    """Returns a step's options: terms and formality are left to the last, and all but the first read sentences."""
    if number < steps - 1:
        terms = options.glossary.terms if options.glossary else ()
        kept = Glossary(GlossaryTerm(term.source, (), "keep") for term in terms)
        options = replace(options, glossary=kept, progress=None, formality=None)
    return replace(options, split="sentences") if number > 0 and options.split == "wrapped" else options


def _name(step: TextTranslator) -> str:
    source, target = (language_name(code) if code else "?" for code in step.languages())
    return f"{source} → {target}"


# ── two translations as one ──────────────────────────────────────────────────────────────────────────────────────────


def joined(first: Translation, after: Sequence[Translation], names: Sequence[str], name_first: bool) -> Translation:
    """Combines a translation of a text with the translations of its sentences into one translation of the text."""
    parts: list[str] = []
    length = read = 0
    sentences = []
    for sentence, second in zip(first.sentences, after, strict=True):
        gap = first.text[read : sentence.target_span[0]]
        length += len(gap)
        named = replace(sentence, reasons=_named(sentence.reasons, names[0])) if name_first else sentence
        sentences.append(_sentence(named, second, length, names[1]))
        parts += [gap, second.text]
        length += len(second.text)
        read = sentence.target_span[1]
    text = "".join(parts) + first.text[read:]
    own = [candidate for one in sentences for candidate in one.candidates]
    score, log_prob = sum(c.score for c in own), sum(c.log_prob for c in own)
    candidates = (Candidate(text, score, log_prob, ()),) if own else ()
    return Translation(first.source, text, score, log_prob, candidates, tuple(sentences), sentence_warnings(sentences))


def _sentence(first: SentenceTranslation, second: Translation, start: int, name: str) -> SentenceTranslation:
    """Combines both steps of one sentence; `start` is where it begins in the new text."""
    middle = first.target_span[0]
    protected = tuple(_followed(one, second, middle, start) for one in first.protected)
    lost = [one for one, before in zip(protected, first.protected, strict=True) if one.target is None and before.target]
    own = (*first.candidates[:1], *second.candidates[:1])
    score, log_prob = sum(c.score for c in own), sum(c.log_prob for c in own)
    judged = [value for value in (first.confidence, _mean(second)) if value is not None]
    reasons = [reason for sentence in second.sentences for reason in sentence.reasons if reason.name != "lost"]
    return SentenceTranslation(
        first.source,
        second.text,
        first.source_span,
        (start, start + len(second.text)),
        "",
        (Candidate(second.text, score, log_prob, ()),) if own else (),
        math.prod(judged) if judged else None,
        (
            *first.reasons,
            *_named(reasons, name),
            *_named([Reason("lost", f'"{one.wanted}" is not in the translation: {one.note}') for one in lost], name),
        ),
        _through(first, second, middle, start),
        protected,
    )


def _named(reasons: Iterable[Reason], step: str) -> tuple[Reason, ...]:
    return tuple(reason._replace(text=f"{step}: {reason.text}") for reason in reasons)


def _mean(translation: Translation) -> float | None:
    """Returns the mean confidence of a text's sentences, weighted by their lengths."""
    judged = [(s.confidence, len(s.source)) for s in translation.sentences if s.confidence is not None]
    return sum(c * n for c, n in judged) / max(1, sum(n for _, n in judged)) if judged else None


def _through(first: SentenceTranslation, second: Translation, middle: int, start: int) -> tuple[WordLink, ...] | None:
    """Links the source to the target through overlapping words of the intermediate text."""
    if first.alignment is None or any(s.alignment is None for s in second.sentences):
        return None
    after = sorted(link for s in second.sentences for link in s.alignment or ())
    found: dict[WordLink, None] = {}
    at = 0
    for source, said in sorted(first.alignment, key=lambda link: link[1]):
        span = _moved(said, -middle)
        while at < len(after) and after[at][0][1] <= span[0]:
            at += 1
        for read, target in islice(after, at, None):
            if read[0] >= span[1]:
                break
            if read[1] > span[0]:
                found[source, _moved(target, start)] = None
    return tuple(sorted(found))


def _followed(one: ProtectedSpan, second: Translation, middle: int, start: int) -> ProtectedSpan:
    """Returns a protected span after the second step, which may have protected it, a part of it, or more."""
    if one.target is None:
        return one
    span = _moved(one.target, -middle)
    others = [
        other
        for s in second.sentences
        for other in s.protected
        if other.source[0] < span[1] and span[0] < other.source[1]
    ]
    same = next((other for other in others if other.source == span), None)
    if same is not None:
        place, wanted, status, note = same.target, same.wanted, same.status, same.note
    else:
        wanted, status, note = one.wanted, one.status, ""
        places = [other.target for other in others if other.target]
        low, high = min((a for a, _ in places), default=0), max((b for _, b in places), default=len(second.text))
        at = second.text.find(wanted, low, high)
        place = (at, at + len(wanted)) if at >= 0 else None
    if place is None:
        return replace(
            one, wanted=wanted, target=None, status="missing", note=note or "the second step did not keep it"
        )
    repaired = "repaired" in (one.status, status)
    return replace(
        one, wanted=wanted, target=_moved(place, start), status="repaired" if repaired else "kept", note=note
    )


def _moved(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by
