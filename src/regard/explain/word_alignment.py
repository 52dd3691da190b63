"""The word alignment of one sentence pair, read from a model's attention."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from regard.align.attention import Link, hard_links
from regard.bundle.bundle import Bundle
from regard.decode.translation import Translation
from regard.explain.alignment import Trust, format_links
from regard.explain.trace import no_attention
from regard.explain.views import stored_view, view_attention
from regard.text.words import Span, word_spans


@dataclass(frozen=True, repr=False)
class WordAlignment:
    """Links (source word, target word), counted from 0. `str` gives them in Pharaoh format: "0-0 1-2"."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    links: tuple[Link, ...]
    trust: Trust | None = None  # the measured alignment error rate of the attention, None if never measured

    @property
    def word_pairs(self) -> list[tuple[str, str]]:
        return [(self.source_words[i], self.target_words[j]) for i, j in self.links]

    def __str__(self) -> str:
        return format_links(set(self.links))

    def __repr__(self) -> str:
        pairs = " ".join(f"{source}–{target}" for source, target in self.word_pairs[:20])
        return f"WordAlignment({pairs}{' …' if len(self.links) > 20 else ''})"


def align_words(bundle: Bundle, source: str, target_ids: Sequence[int]) -> WordAlignment:
    """Links each target word to the source word with the largest attention weight, in the view of the bundle's card."""
    source_words, target_words = _words(source), _words(bundle.tokenizer.decode(target_ids))
    if not (source_words and target_words):
        return WordAlignment(source_words, target_words, ())
    seen = view_attention(bundle, source, target_ids)
    return WordAlignment(source_words, target_words, tuple(sorted(hard_links(seen.attention))), seen.trust)


def translation_words(bundle: Bundle, translation: Translation) -> WordAlignment:
    """The links that `translate` itself found, sentence by sentence."""
    source, target = word_spans(translation.source), word_spans(translation.text)
    links = set()
    for sentence in translation.sentences:
        if sentence.alignment is None:
            raise no_attention(bundle)
        for from_span, to_span in sentence.alignment:
            links |= {(i, j) for i in _touched(source, from_span) for j in _touched(target, to_span)}
    trust = stored_view(bundle)[1]
    return WordAlignment(_words(translation.source), _words(translation.text), tuple(sorted(links)), trust)


def _touched(words: Sequence[Span], span: Span) -> range:
    """Which words a span covers; words are in order."""
    first = bisect_right(words, span[0], key=lambda word: word[1])
    return range(first, bisect_left(words, span[1], key=lambda word: word[0]))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in word_spans(text))
