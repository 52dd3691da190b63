"""Word links: the links between words that an attention map gives.

The attention map is the one the card names (`attention_view`) or the default one (`alignment_heads.py`). A slot is the
same character on both sides, so its link is certain and taken from the texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.align.attention import WordAttention, best_sources, word_attention
from regard.search.alignment_heads import AlignmentView
from regard.search.engine import Weights
from regard.text.slots import SLOT, SLOTS
from regard.text.tokenizer import Tokenizer
from regard.text.words import Span, WordLink, WordsOf, word_spans


def word_links(
    tokenizer: Tokenizer,
    view: AlignmentView,
    weights: Weights,
    read: str,
    target_ids: Sequence[int],
    source_ids: Sequence[int] | None = None,
) -> tuple[WordAttention, list[WordLink]]:
    """Returns how much the words of the target attended to the words of `read`, and the links between them, in the
    order of the target. `source_ids` are those of `read`, without a tag, if they are known."""
    ids = tokenizer.source.encode([read])[0] if source_ids is None else source_ids
    source_spans = tokenizer.source.spans_in(read, ids)
    target_spans = tokenizer.target_pieces(target_ids)
    return links_between(weights, view, (read, source_spans), (tokenizer.decode(target_ids), target_spans))


def links_between(
    weights: Weights,
    view: AlignmentView,
    source: tuple[str, Sequence[Span]],
    target: tuple[str, Sequence[Span]],
    words: WordsOf = word_spans,
) -> tuple[WordAttention, list[WordLink]]:
    """Like `word_links`, for two texts with the spans of their tokens."""
    (read, source_spans), (answer, target_spans) = source, target
    source_words, target_words = words(read), words(answer)
    known = {read: source_words, answer: target_words}
    in_words = word_attention(weights, source_spans, target_spans, read, answer, view.row, known.__getitem__)
    links = {j: source_words[i] for j, i in best_sources(in_words)}
    if SLOT.search(read):
        places = {word: span for word, span in zip(in_words.source_words, source_words, strict=True) if word in SLOTS}
        links |= {j: places[word] for j, word in enumerate(in_words.target_words) if word in places}
    return in_words, [(links[j], target_words[j]) for j in sorted(links)]
