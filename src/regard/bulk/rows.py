"""Formats a translation as output (text, an n-best list, or JSON), and a sentence as a row of a report.

    text                     TEXT
    with alignments          TEXT ||| 0-0 1-2
    n-best lists             NUMBER ||| TEXT ||| SCORE             numbers of texts count from 0
    with alignments          NUMBER ||| TEXT ||| SCORE ||| 0-0 1-2

Alignments are pairs SOURCE-TARGET of word indices of the original texts, counted from 0 (the format of Moses).
In JSON they are the field "alignment", and token scores the fields "tokens": pairs of a token and its log-probability.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.errors import InputError
from regard.text.words import word_spans
from regard.translation.translation import SentenceTranslation, Translation, in_one_line

if TYPE_CHECKING:
    from regard.translation.chain import TextChain
    from regard.translation.translator import TextTranslator


TokenScores = list[tuple[str, float]]  # tokens of a candidate, EOS last, and their log-probabilities
SentenceScores = list[TokenScores]  # one for each candidate of a sentence


class OutputForm(NamedTuple):
    """The fields and format of a line of output."""

    nbest: int = 1
    as_json: bool = False
    alignments: bool = False
    token_scores: bool = False


PLAIN = OutputForm()


def check_form(form: OutputForm, split: str) -> None:
    if form.token_scores and not form.as_json:
        raise InputError("token scores are fields of JSON; ask for JSON too", parameter=("token_scores", "as_json"))
    if form.alignments and form.nbest > 1 and split != "lines":
        raise InputError(
            "the alignments of n-best lists are those of single sentences: each text must be translated as one; "
            f'split must be "lines" for them, but is {split!r}'
        )


def written(
    first: int,
    translations: Sequence[Translation],
    form: OutputForm,
    translator: TextTranslator | TextChain,
    tag: str | None = None,
) -> Iterator[str]:
    """Yields the output of each text. `first` is the number of texts before these; `tag` the tag used to translate."""
    model = one_model(translator) if form.alignments or form.token_scores else None
    scores = token_scores(model, translations, tag) if model and form.token_scores else None
    for number, translation in enumerate(translations):
        yield formatted(first + number, translation, form, model, scores[number] if scores else ())


def one_model(translator: TextTranslator | TextChain) -> TextTranslator:
    """Returns the translator, for token scores and alignments; raises for a chain, which has neither."""
    from regard.translation.chain import TextChain

    if isinstance(translator, TextChain):
        translator.raise_unsupported("a column of alignments or token scores")
    return translator


def formatted(
    number: int,
    translation: Translation,
    form: OutputForm = PLAIN,
    translator: TextTranslator | None = None,
    scores: Sequence[SentenceScores] = (),
) -> str:
    """Formats the output of one text, with its line end. `translator` is needed for alignments only."""
    links = alignments(translator, translation, form.nbest) if form.alignments and translator else []
    if form.as_json:
        return json.dumps(json_row(translation, links, scores), ensure_ascii=False, allow_nan=False) + "\n"
    if form.nbest == 1:
        return f"{in_one_line(translation.text)} ||| {links[0]}\n" if links else translation.text + "\n"
    found = translation.candidates or [translation]  # an empty line has no candidates, but still gives one line
    fields = [f"{number} ||| {in_one_line(one.text)} ||| {one.score:.4f}" for one in found]
    if links:
        fields = [f"{field} ||| {pairs}" for field, pairs in zip(fields, links, strict=True)]
    return "".join(f"{field}\n" for field in fields)


def json_row(
    translation: Translation, links: Sequence[str] = (), scores: Sequence[SentenceScores] = ()
) -> dict[str, Any]:
    candidates: list[dict[str, Any]] = [
        {"text": c.text, "score": finite(c.score), "log_prob": finite(c.log_prob)} for c in translation.candidates
    ]
    for candidate, pairs in zip(candidates, links, strict=False):
        candidate["alignment"] = pairs
    sentences = [sentence_row(sentence) for sentence in translation.sentences]
    for sentence, lists in zip(sentences, scores, strict=False):
        sentence["tokens"] = lists[0] if lists else None
    if len(scores) == 1:  # the candidates of the text are those of its one sentence
        for candidate, tokens in zip(candidates, scores[0], strict=False):
            candidate["tokens"] = tokens
    row = {
        "source": translation.source,
        "text": translation.text,
        "score": finite(translation.score),
        "nbest": candidates,
        "sentences": sentences,
        "warnings": list(translation.warnings),
    }
    if links:
        row |= {
            "alignment": links[0],
            "source_words": words(translation.source),
            "target_words": words(translation.text),
        }
    return row


def words(text: str) -> list[str]:
    """Splits a text into the words that alignments count."""
    return [text[start:end] for start, end in word_spans(text)]


def alignments(translator: TextTranslator, translation: Translation, nbest: int) -> list[str]:
    """Returns the word links of each candidate: for the best one, or a text without candidates, those of `translate`,
    for the others those of a forced pass."""
    from regard.explain.alignment import format_links
    from regard.explain.word_alignment import align_pairs, translation_links

    first = format_links(translation_links(translator.bundle, translation))
    others = [(translation.source, candidate.text) for candidate in translation.candidates[1:nbest]]
    return [first, *(str(one) for one in align_pairs(translator, others))]


def token_scores(
    translator: TextTranslator, translations: Sequence[Translation], tag: str | None = None
) -> list[list[SentenceScores]]:
    """Returns, for each sentence of each text, the tokens of its candidates with their log-probabilities from a forced
    pass of the model. A sentence that was translated in parts, or not at all, has none."""
    tokenizer = translator.tokenizer
    prefix = tokenizer.prefix(tag)
    asked = [
        (sentence, candidate) for one in translations for sentence in one.sentences if sentence.read
        for candidate in sentence.candidates
    ]  # fmt: skip
    read = tokenizer.plain.encode_source([sentence.read for sentence, _ in asked])
    sources = [[*prefix, *ids] for ids in read]
    found = iter(translator.forced_log_probs(sources, [candidate.ids for _, candidate in asked]))

    def tokens(sentence: SentenceTranslation, ids: Sequence[int]) -> TokenScores:
        labels = (*tokenizer.target.labels(ids, sentence.slots.target), "</s>")
        return [(label, round(value, 6)) for label, value in zip(labels, next(found).tolist(), strict=True)]

    return [
        [[tokens(s, candidate.ids) for candidate in s.candidates] if s.read else [] for s in one.sentences]
        for one in translations
    ]


def finite(value: float) -> float | None:
    """Returns the value, or None for NaN and infinities, which JSON does not have."""
    return value if math.isfinite(value) else None


def sentence_row(sentence: SentenceTranslation) -> dict[str, Any]:
    """Returns a sentence as a JSON object."""
    return {
        "source": sentence.source,
        "text": sentence.text,
        "source_span": sentence.source_span,
        "target_span": sentence.target_span,
        "confidence": None if sentence.confidence is None else round(sentence.confidence, 4),
        "mark": sentence.mark,
        "reasons": [reason._asdict() for reason in sentence.reasons],
        "protected": [
            {
                "text": one.text, "kind": one.kind, "wanted": one.wanted, "source_span": one.source,
                "target_span": one.target, "status": one.status, "note": one.note,
            }
            for one in sentence.protected
        ],
        "alignment": sentence.alignment,
    }  # fmt: skip


def report_row(place: str, sentence: SentenceTranslation) -> str:
    return json.dumps({"place": place, **sentence_row(sentence)}, ensure_ascii=False, allow_nan=False) + "\n"
