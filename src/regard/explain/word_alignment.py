"""The word alignment of one sentence pair, read from a model's attention."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.align.attention import Link, beyond_tag
from regard.bundle.bundle import Bundle
from regard.explain.alignment import Trust, format_links
from regard.explain.trace import no_attention
from regard.explain.views import stored_view
from regard.search.forced_decoding import forced_attention
from regard.text.words import Span, WordsOf, word_spans
from regard.translation.translation import Translation
from regard.translation.translator import TextTranslator
from regard.translation.word_links import links_between


@dataclass(frozen=True, repr=False)
class WordAlignment:
    """Links (source word, target word), counted from 0. `str` gives them in Pharaoh format: "0-0 1-2"."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    links: tuple[Link, ...]
    trust: Trust | None = None  # the measured alignment error rate of the attention, None if not measured

    @property
    def word_pairs(self) -> list[tuple[str, str]]:
        return [(self.source_words[i], self.target_words[j]) for i, j in self.links]

    def __str__(self) -> str:
        return format_links(set(self.links))

    def __repr__(self) -> str:
        pairs = " ".join(f"{source}–{target}" for source, target in self.word_pairs[:20])
        return f"WordAlignment({pairs}{' …' if len(self.links) > 20 else ''})"


def align_pairs(
    translator: TextTranslator, pairs: Sequence[tuple[str, str]], words: WordsOf = word_spans
) -> Iterator[WordAlignment]:
    """Links each target word of given translations to the source word with the largest attention weight, in the view of
    the model's card. Texts are prepared as in `translate`; words and links refer to the texts as they were given."""
    view, bundle, tokenizer = translator.alignment_view, translator.bundle, translator.tokenizer
    trust = stored_view(bundle)[1] if view else None
    for number, (source, target) in enumerate(pairs):
        source_words, target_words = words(source), words(target)
        texts = (
            tuple(source[slice(*span)] for span in source_words),
            tuple(target[slice(*span)] for span in target_words),
        )
        if not (source_words and target_words):
            yield WordAlignment(*texts, ())
            continue
        if not view:
            raise no_attention(bundle)
        pair = translator.forced_pair(source, target)
        pair.check_length(translator.max_length, "align", number)
        (seen,) = forced_attention(bundle.model, view, [pair.source_ids], [pair.target_ids])
        weights = beyond_tag(seen, bundle.tag)
        spans = [(piece.start, piece.end) for piece in tokenizer.plain.source_tokens(pair.read)]
        said = [(piece.start, piece.end) for piece in tokenizer.target_tokens(pair.answer)]
        _, links = links_between(weights, view, (pair.read, spans), (pair.answer, said), words)
        found = {
            (i, j)
            for from_span, to_span in links
            for i in _overlapping(source_words, _origin(pair.source_origins, from_span))
            for j in _overlapping(target_words, _origin(pair.target_origins, to_span))
        }
        yield WordAlignment(*texts, tuple(sorted(found)), trust)


def _origin(origins: Sequence[Span], span: Span) -> Span:
    return origins[span[0]][0], origins[span[1] - 1][1]


def translation_words(bundle: Bundle, translation: Translation) -> WordAlignment:
    """The links found during translation, with the words that they link."""
    trust = stored_view(bundle)[1]
    links = tuple(sorted(translation_links(bundle, translation)))
    return WordAlignment(_words(translation.source), _words(translation.text), links, trust)


def translation_links(bundle: Bundle, translation: Translation) -> set[Link]:
    """The links found during translation, sentence by sentence."""
    source, target = word_spans(translation.source), word_spans(translation.text)
    links: set[Link] = set()
    for sentence in translation.sentences:
        if sentence.alignment is None:
            raise no_attention(bundle)
        for from_span, to_span in sentence.alignment:
            links |= {(i, j) for i in _overlapping(source, from_span) for j in _overlapping(target, to_span)}
    return links


def _overlapping(words: Sequence[Span], span: Span) -> range:
    """The indices of the words that a span overlaps; words are in order."""
    first = bisect_right(words, span[0], key=lambda word: word[1])
    return range(first, bisect_left(words, span[1], key=lambda word: word[0]))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in word_spans(text))
