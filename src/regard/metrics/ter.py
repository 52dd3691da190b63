"""TER, the translation edit rate (Snover et al., 2006, "A Study of Translation Edit Rate with Targeted Human
Annotation"): the edits that turn a hypothesis into its reference, per word of the reference.

    TER = 100 · edits / words in the references      an edit inserts, deletes or replaces a word, or moves a phrase

The moves that are tried follow the heuristics of the first implementation (Tercom), and scores are only comparable
with all of them. So sacreBLEU tokenizes and finds the edits; this file stores its counts for each line, so that TER
adds up and resamples like every other metric. It is slow: seconds for a thousand lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.base import References, Score, Stats, checked_lines, format_signature, reference_count


def rate(edits: float, ref_len: float) -> float:
    """Edits per 100 words of the reference; can exceed 100. Without reference words: 100 if there are edits, else 0.

    >>> rate(3, 12), rate(0, 0), rate(2, 0), rate(6, 4)
    (25.0, 0.0, 100.0, 150.0)
    """
    if ref_len > 0:
        return 100 * (edits / ref_len)
    return 100.0 if edits > 0 else 0.0


@dataclass(frozen=True, repr=False)
class TerScore(Score):
    edits: int
    ref_len: float  # words of the references; the average for a line with several references


@dataclass(frozen=True)
class Ter:
    """TER with its options. A row of its statistics is the number of edits of a line (to the reference that needs
    fewest) and the length of its reference (the average, if there are several)."""

    normalized: bool = False  # separate punctuation as Tercom does
    no_punct: bool = False  # remove punctuation
    asian_support: bool = False  # apply both to Chinese and Japanese too
    case_sensitive: bool = False

    name = "TER"
    higher_is_better = False

    def stats(self, hypotheses: Sequence[str], references: References) -> Stats:
        """Counts the statistics of each line; `references` is one list of lines, or several such lists (streams)."""
        from sacrebleu.metrics.ter import TER

        lines, streams = checked_lines(hypotheses, references)
        metric = TER(**asdict(self))
        rows = np.zeros((len(lines), 2))
        for row, line, some in zip(rows, lines, zip(*streams, strict=True), strict=True):
            found = metric.sentence_score(line, [reference for reference in some if reference is not None])
            row[:] = found.num_edits, found.ref_length
        return Stats(rows, reference_count(streams))

    def score(self, stats: Stats) -> TerScore:
        edits, ref_len = stats.total().tolist()
        return TerScore(self.name, rate(edits, ref_len), self.signature(stats.references), int(edits), ref_len)

    def scores(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """(…, 2) → (…): `score(…).score` of many sums at once."""
        edits, ref_len = sums[..., 0], sums[..., 1]
        no_words = np.where(edits > 0, 1.0, 0.0)
        found: NDArray[np.float64] = 100 * np.divide(edits, ref_len, out=no_words, where=ref_len > 0)
        return found

    def signature(self, references: int | None, test: Mapping[str, int] | None = None) -> str:
        """The signature as in sacreBLEU."""
        case, norm = "mixed" if self.case_sensitive else "lc", "yes" if self.normalized else "no"
        punct, asian = "no" if self.no_punct else "yes", "yes" if self.asian_support else "no"
        return format_signature(references, test, case=case, tok="tercom", norm=norm, punct=punct, asian=asian)


def ter(hypotheses: Sequence[str], references: References, **options: Any) -> TerScore:
    """Corpus TER of `hypotheses` against one or several lists of references of the same length; options as in `Ter`.

    >>> print(ter(["on the mat the cat sat"], ["the cat sat on the mat"]))
    TER = 16.67
    """
    metric = Ter(**options)
    return metric.score(metric.stats(hypotheses, references))
