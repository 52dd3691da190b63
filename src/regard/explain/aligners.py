"""Error rates of links from attention and from baselines that need no model: the table of `regard align`.

    attention   the chosen view, and the best of either row meaning; weighted by value norms; the mean of all maps
    baselines   the diagonal, chance, the same model untrained, IBM model 1, the HMM aligner in one and both directions

A view is chosen on some sentences and measured on others. The aligners learn from text alone, without gold links, so
they may also learn from the sentences they are measured on.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from regard.align import hmm, ibm
from regard.align.attention import ROW_MEANINGS, Link, RowMeaning, View, beyond_tag, hard_links, word_attention
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.alignment import (
    Links,
    aer_score,
    aer_stats,
    all_links,
    choose_view,
    diagonal,
    parse_links,
    precision_and_recall,
)
from regard.explain.trace import Trace, trace_sentence
from regard.explain.views import attention_links, norm_links, projected_values
from regard.models.table import make_model
from regard.text.words import WordsOf

Pair = tuple[str, str]


@dataclass(frozen=True)
class GoldAlignments:
    """Sentence pairs with gold links annotated by people."""

    pairs: list[Pair]
    sure: list[set[Link]]
    possible: list[set[Link]]

    def part(self, which: slice) -> GoldAlignments:
        return GoldAlignments(self.pairs[which], self.sure[which], self.possible[which])


@dataclass(frozen=True)
class AlignmentScore:
    """One row of the table. All numbers are fractions; an AER of 0 is perfect."""

    name: str
    view: View | None  # of attention
    precision: float
    recall: float
    aer: float


def read_gold(pairs: Sequence[Pair], lines: Sequence[str], first: int, words: WordsOf) -> GoldAlignments:
    """Parses lines in Pharaoh format; raises InputError where a link is outside its sentences."""
    if len(lines) != len(pairs):
        raise InputError(f"gold alignments must be as many as sentences, but are {len(lines):,} for {len(pairs):,}")
    sure, possible = [], []
    for number, ((source, target), line) in enumerate(zip(pairs, lines, strict=True), start=1):
        try:
            certain, may = parse_links(line, first)
        except InputError as problem:
            raise InputError(f"line {number} of the gold alignments: {problem}") from None
        size = (len(words(source)), len(words(target)))
        over = [(i, j) for i, j in may if i >= size[0] or j >= size[1]]
        if over:
            i, j = min(over)
            raise InputError(
                f"line {number} of the gold alignments links words {i + first} and {j + first}, but the sentences have "
                f"{size[0]} and {size[1]} words; for text that is cut into words by spaces: --words spaces; where "
                f"numbers start at 1: --gold-first 1"
            )
        sure.append(certain)
        possible.append(may)
    return GoldAlignments(list(pairs), sure, possible)


def alignment_score(
    name: str, links: Sequence[Links], gold: GoldAlignments, view: View | None = None
) -> AlignmentScore:
    stats = aer_stats(links, gold.sure, gold.possible)
    return AlignmentScore(name, view, *precision_and_recall(stats), aer_score(stats))


# ------------------------------------------------------------------------------------------------ with the model


def attention_rows(
    bundle: Bundle, dev: GoldAlignments, test: GoldAlignments, words: WordsOf
) -> tuple[View, list[AlignmentScore]]:
    """Returns the chosen view, and the rows of the table that are computed from the model's attention."""
    known = attention_links(bundle, dev.pairs, words)
    found: list[dict[View, set[Link]]] = []
    means: dict[RowMeaning, list[set[Link]]] = {row: [] for row in ROW_MEANINGS}
    for source, target in test.pairs:
        (ids,) = bundle.tokenizer.encode_target([target])
        seen = trace_sentence(bundle, source, ids)
        found.append(all_links(seen.views(words)))
        for row in ROW_MEANINGS:
            means[row].append(mean_links(seen, row, words))

    def through(name: str, view: View) -> AlignmentScore:
        return alignment_score(name, [links[view] for links in found], test, view)

    chosen = choose_view(known, dev.sure, dev.possible).view
    rows = [through("attention, chosen view", chosen)]
    for row in ROW_MEANINGS:
        best = choose_view(known, dev.sure, dev.possible, row).view
        rows.append(through(f"attention, best {row.replace('-', ' ')}", best))
    if projected_values(bundle.model):
        rows += norm_rows(bundle, dev, test, words)
    for row, links in means.items():
        rows.append(alignment_score(f"attention, mean of all, {row.replace('-', ' ')}", links, test))
    return chosen, rows


def norm_rows(bundle: Bundle, dev: GoldAlignments, test: GoldAlignments, words: WordsOf) -> list[AlignmentScore]:
    known, found = (norm_links(bundle, part.pairs, words) for part in (dev, test))
    rows = []
    for row in ROW_MEANINGS:
        best = choose_view(known, dev.sure, dev.possible, row).view
        name = f"by value norms, best {row.replace('-', ' ')}"
        rows.append(alignment_score(name, [links[best] for links in found], test, best))
    return rows


def mean_links(seen: Trace, row: RowMeaning, words: WordsOf) -> set[Link]:
    """The links of the mean of all layers, each averaged over its heads."""
    weights = beyond_tag(np.mean([layer.mean(axis=0) for layer in seen.cross], axis=0), seen.tag)  # (T, S)
    texts = (seen.source_spans, seen.target_spans, seen.read, seen.output)
    return hard_links(word_attention(weights, *texts, row, words))


def untrained(bundle: Bundle, seed: int) -> Bundle:
    """The same architecture, vocabulary and size with freshly initialized weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = make_model(bundle.architecture, bundle.config, bundle.tokenizer)
    model = fresh.to(bundle.model.device).eval()
    return Bundle(bundle.architecture, bundle.config, model, bundle.tokenizer)


# ------------------------------------------------------------------------------------------------ without a model


def at_random(pairs: Sequence[Pair], words: WordsOf, seed: int) -> list[set[Link]]:
    """Links each target word to a random source word."""
    rng = random.Random(seed)
    sizes = [(len(words(source)), len(words(target))) for source, target in pairs]
    return [{(rng.randrange(i), j) for j in range(t)} if i else set() for i, t in sizes]


def baseline_rows(
    bundle: Bundle, dev: GoldAlignments, test: GoldAlignments, text: Sequence[Pair], words: WordsOf, seed: int
) -> list[AlignmentScore]:
    """`text`: what the aligners learn from, in addition to the sentences they are measured on."""
    fresh = untrained(bundle, seed)
    view = choose_view(attention_links(fresh, dev.pairs, words), dev.sure, dev.possible).view
    without = [links[view] for links in attention_links(fresh, test.pairs, words)]
    sizes = [(len(words(source)), len(words(target))) for source, target in test.pairs]
    return [
        alignment_score("untrained model, chosen view", without, test, view),
        alignment_score("diagonal", [diagonal(i, j) for i, j in sizes], test),
        alignment_score("random", at_random(test.pairs, words, seed), test),
        *aligner_rows(test, text, words),
    ]


def aligner_rows(test: GoldAlignments, text: Sequence[Pair], words: WordsOf) -> list[AlignmentScore]:
    """The scores of aligners that learn from `text`."""

    def split(pairs: Sequence[Pair]) -> list[tuple[list[str], list[str]]]:
        sides = ([[side[start:end] for start, end in words(side)] for side in pair] for pair in pairs)
        return [(source, target) for source, target in sides]

    train, pairs = split(text), split(test.pairs)
    both = hmm.train_both(train)
    backward = both.backward.align_all([(target, source) for source, target in pairs])
    found = {
        "IBM model 1": ibm.train(train).align_all(pairs),
        "HMM, source to target": both.forward.align_all(pairs),
        "HMM, target to source": [[(i, j) for j, i in links] for links in backward],
        "HMM, both, grow-diag": both.align_all(pairs),
        "HMM, both, intersection": both.align_all(pairs, "intersection"),
    }
    return [alignment_score(name, [set(some) for some in links], test) for name, links in found.items()]
