"""BLEU (Papineni et al., 2002, "BLEU: a Method for Automatic Evaluation of Machine
Translation"; smoothing as in Chen and Cherry, 2014).

    BLEU = BP · exp( Σ w_n log p_n )      p_n = clipped matches of n-grams / n-grams in the hypotheses

The first part of this file is the definition, one small function for each term of the formula. `Bleu` uses fast
versions of two of them (`ngrams.matching` for the counts, `Bleu.scores` for many scores at once); tests check each
against its definition. Scores and signatures are those of sacreBLEU, and so are the tokenizers (`ngrams.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.metrics.base import (
    References,
    Score,
    Stats,
    Stream,
    checked_lines,
    format_signature,
    reference_count,
    unknown,
)
from regard.metrics.ngrams import Numbers, TokenEncoder, encoder_for, matching, tokenizer

MAX_ORDER = 4
SMOOTHING: dict[str, float | None] = {"exp": None, "floor": 0.1, "add-k": 1.0, "none": None}  # name → default value
REFERENCE_LENGTHS = ("closest", "shortest", "average")
CHUNK = 2048  # lines counted at a time, to bound memory

NGrams = Counter[tuple[str, ...]]


# ------------------------------------------------------------------------------------------------ the formula


def ngram_counts(tokens: Sequence[str], n: int) -> NGrams:
    """
    >>> ngram_counts("the cat the cat".split(), 2)
    Counter({('the', 'cat'): 2, ('cat', 'the'): 1})
    """
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def most_in_one_reference(counts: Iterable[NGrams]) -> NGrams:
    """For each n-gram the largest count it has in any single reference."""
    most, *others = counts
    for one in others:
        most = most | one
    return most


def clipped_matches(hypothesis: NGrams, most: NGrams) -> int:
    """The number of matches; an n-gram counts at most as often as one reference has it: "the" × 6 against 2 gives 2."""
    return sum(min(count, most[ngram]) for ngram, count in hypothesis.items() if ngram in most)


def effective_length(hyp_len: int, ref_lens: Sequence[int], which: str = "closest") -> float:
    """The reference length for the brevity penalty: the one closest to the hypothesis (the shorter one of a tie), the
    shortest, or the average."""
    if which == "average":
        return sum(ref_lens) / len(ref_lens)
    if which == "shortest":
        return min(ref_lens)
    return min(ref_lens, key=lambda ref_len: (abs(ref_len - hyp_len), ref_len))


def brevity_penalty(hyp_len: float, ref_len: float) -> float:
    """1 if the hypotheses are long enough, else e^(1 − r/c)."""
    if hyp_len >= ref_len:
        return 1.0
    return math.exp(1 - ref_len / hyp_len) if hyp_len > 0 else 0.0


def smoothed_precisions(correct: Sequence[int], total: Sequence[int], smooth: str, value: float | None) -> list[float]:
    """p_1 … p_N in percent; 0 from the first order without any n-gram.

    none: 0 matches stay 0.  floor: 0 matches count as `value`.  exp: the k-th order without a match counts as
    1/2^k matches (NIST's mteval).  add-k: k = `value` more matches and k more n-grams from n = 2 on.
    """
    precisions = [0.0] * len(correct)
    if not any(correct):  # without any match there is nothing to smooth
        return precisions
    halved = 1.0
    for n in range(len(correct)):
        k = value if smooth == "add-k" and n > 0 and value is not None else 0.0
        matches, ngrams = correct[n] + k, total[n] + k
        if ngrams == 0:
            break
        if matches == 0 and smooth == "exp":
            halved /= 2
            matches = halved
        elif matches == 0 and smooth == "floor" and value is not None:
            matches = value
        precisions[n] = 100 * matches / ngrams
    return precisions


def geometric_mean(precisions: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """exp(Σ w_n log p_n / Σ w_n), or 0 if any p_n with a weight is 0. The default is equal weights."""
    if weights is None:
        weights = [1.0] * len(precisions)
    weighed = [(p, w) for p, w in zip(precisions, weights, strict=False) if w > 0]
    if not weighed or min(p for p, _ in weighed) == 0:
        return 0.0
    return math.exp(sum(w * math.log(p) for p, w in weighed) / sum(w for _, w in weighed))


def line_stats(
    hypothesis: Sequence[str], references: Sequence[Sequence[str]], order: int, ref_length: str = "closest"
) -> list[float]:
    """The counts of one line: hyp_len, ref_len, matches of orders 1 … N, n-grams of orders 1 … N.

    >>> line_stats("the the the the the the".split(), ["the cat is on the mat".split()], 2)
    [6, 6, 2, 0, 6, 5]
    """
    correct, total = [], []
    for n in range(1, order + 1):
        counts = ngram_counts(hypothesis, n)
        most = most_in_one_reference(ngram_counts(reference, n) for reference in references)
        correct.append(clipped_matches(counts, most))
        total.append(max(0, len(hypothesis) - n + 1))
    ref_len = effective_length(len(hypothesis), [len(reference) for reference in references], ref_length)
    return [len(hypothesis), ref_len, *correct, *total]


# ------------------------------------------------------------------------------------------------ the metric


@dataclass(frozen=True, repr=False)
class BleuScore(Score):
    """A BLEU score. Score and precisions are 0–100; counts are before smoothing."""

    precisions: tuple[float, ...]
    bp: float
    hyp_len: int
    ref_len: float
    correct: tuple[int, ...]
    total: tuple[int, ...]

    @property
    def ratio(self) -> float:
        return self.hyp_len / self.ref_len if self.ref_len else 0.0

    def text(self, width: int = 2) -> str:
        precisions = "/".join(f"{p:.1f}" for p in self.precisions)
        lengths = f"ratio = {self.ratio:.3f} hyp_len = {self.hyp_len} ref_len = {self.ref_len:.10g}"
        return f"BLEU = {self.score:.{width}f} {precisions} (BP = {self.bp:.3f} {lengths})"

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "ratio": self.ratio}


@dataclass(frozen=True)
class Bleu:
    """BLEU with its options. A row of its statistics is that of `line_stats`."""

    tokenize: str = "13a"
    lowercase: bool = False
    smooth: str = "exp"
    smooth_value: float | None = None
    max_order: int = MAX_ORDER
    weights: tuple[float, ...] | None = None  # w_1 … w_N; default 1/N each
    ref_length: str = "closest"
    effective_order: bool = False  # leave out orders longer than every hypothesis

    name = "BLEU"
    higher_is_better = True

    def __post_init__(self) -> None:
        tokenizer(self.tokenize)
        if self.smooth not in SMOOTHING:
            raise unknown("smoothing", self.smooth, SMOOTHING)
        if self.ref_length not in REFERENCE_LENGTHS:
            raise unknown("reference length", self.ref_length, REFERENCE_LENGTHS)
        if self.max_order < 1:
            raise InputError(f"max_order must be 1 or more, but is {self.max_order}")
        if self.value is not None and not (math.isfinite(self.value) and self.value >= 0):
            raise InputError(f"smooth_value must be 0 or more, but is {self.value}")
        if self.weights is not None:
            check_weights(self.weights, self.max_order)

    @property
    def value(self) -> float | None:
        return SMOOTHING[self.smooth] if self.smooth_value is None else self.smooth_value

    def stats(self, hypotheses: Sequence[str], references: References) -> Stats:
        """Counts the statistics of each line; `references` is one list of lines, or several such lists (streams)."""
        lines, streams = checked_lines(hypotheses, references)
        encoder = encoder_for(self.tokenize, self.lowercase)
        rows = [
            self._rows(encoder, lines[i : i + CHUNK], [stream[i : i + CHUNK] for stream in streams])
            for i in range(0, len(lines), CHUNK)
        ]
        return Stats(np.concatenate(rows), reference_count(streams))

    def _rows(self, encoder: TokenEncoder, lines: Sequence[str], streams: Sequence[Stream]) -> NDArray[Any]:
        """`line_stats` of many lines at once: (lines, 2 + 2N)."""
        hypotheses = encoder.encode(lines)
        references = [encoder.encode([line or "" for line in stream]) for stream in streams]
        present = np.array([[line is not None for line in stream] for stream in streams])  # (streams, lines)
        ref_lens = np.stack([reference.lengths for reference in references])
        ref_len = effective_lengths(hypotheses.lengths, ref_lens, present, self.ref_length)
        orders = np.arange(self.max_order)
        total = np.maximum(0, hypotheses.lengths[:, None] - orders)  # (lines, N)
        correct = matching(hypotheses, references, self.max_order)
        return np.column_stack([hypotheses.lengths, ref_len, correct, total])

    def score(self, stats: Stats) -> BleuScore:
        counts = stats.total().tolist()
        correct, total = counts[2 : 2 + self.max_order], counts[2 + self.max_order :]
        precisions = smoothed_precisions(correct, total, self.smooth, self.value)
        bp = brevity_penalty(counts[0], counts[1])
        counted: Sequence[float] = precisions
        if self.effective_order:  # orders longer than every hypothesis come last
            counted = [p for p, ngrams in zip(precisions, total, strict=True) if ngrams > 0 or p > 0]
        return BleuScore(
            name=self.name,
            score=bp * geometric_mean(counted, self.weights),
            signature=self.signature(stats.references),
            precisions=tuple(precisions),
            bp=bp,
            hyp_len=int(counts[0]),
            ref_len=counts[1],
            correct=tuple(map(int, correct)),
            total=tuple(map(int, total)),
        )

    def scores(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """(…, 2 + 2N) → (…): `score(…).score` of many sums at once."""
        n = self.max_order
        hyp_len, ref_len, correct, total = sums[..., 0], sums[..., 1], sums[..., 2 : 2 + n], sums[..., 2 + n :]
        k = np.zeros(n)
        if self.smooth == "add-k":
            k[1:] = self.value
        matches, ngrams = correct + k, total + k  # (…, N)
        reached = np.cumprod(ngrams > 0, axis=-1).astype(bool)  # orders up to the first without n-grams
        missing = reached & (matches == 0)
        if self.smooth == "exp":
            matches = np.where(missing, 0.5 ** np.cumsum(missing, axis=-1), matches)
        elif self.smooth == "floor" and self.value is not None:
            matches = np.where(missing, self.value, matches)
        weights = np.full(n, 1 / n) if self.weights is None else np.array(self.weights)
        weighed = np.where(reached if self.effective_order else True, weights, 0.0)  # (…, N)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(weighed > 0, np.log(np.where(reached, 100 * matches / ngrams, 0.0)), 0.0)
            mean = np.exp((weighed * logs).sum(axis=-1) / weighed.sum(axis=-1))
            penalty = np.where(hyp_len < ref_len, np.exp(1 - ref_len / hyp_len), 1.0)
        anything = (correct > 0).any(axis=-1) & (hyp_len > 0) & (weighed.sum(axis=-1) > 0)
        found: NDArray[np.float64] = np.where(anything, penalty * mean, 0.0)
        return found

    def signature(self, references: int | None, test: Mapping[str, int] | None = None) -> str:
        """The signature as in sacreBLEU. Options that sacreBLEU does not have are added only if they differ from the
        default: order (if not 4), weights, reflen."""
        return format_signature(
            references,
            test,
            case="lc" if self.lowercase else "mixed",
            eff="yes" if self.effective_order else "no",
            tok=tokenizer(self.tokenize).signature(),
            smooth=self.smooth if SMOOTHING[self.smooth] is None else f"{self.smooth}[{self.value:.2f}]",
            **({"order": self.max_order} if self.max_order != MAX_ORDER else {}),
            **({"weights": ",".join(f"{w:g}" for w in self.weights)} if self.weights else {}),
            **({"reflen": self.ref_length} if self.ref_length != "closest" else {}),
        )


def effective_lengths(hyp_len: Numbers, ref_lens: Numbers, present: NDArray[np.bool_], which: str) -> NDArray[Any]:
    """`effective_length` of many lines: hyp_len (lines,), ref_lens and `present` (streams, lines)."""
    if which == "average":
        average: NDArray[Any] = np.where(present, ref_lens, 0).sum(axis=0) / present.sum(axis=0)
        return average
    far = int(ref_lens.max(initial=0)) + int(hyp_len.max(initial=0)) + 1
    badness = ref_lens if which == "shortest" else np.abs(ref_lens - hyp_len) * far + ref_lens
    best = np.where(present, badness, far * far).argmin(axis=0)
    chosen: NDArray[Any] = np.take_along_axis(ref_lens, best[None], axis=0)[0]
    return chosen


def check_weights(weights: Sequence[float], order: int) -> None:
    given = ",".join(f"{w:g}" for w in weights)
    if len(weights) != order:
        raise InputError(f"{len(weights)} weights ({given}) for {order} orders of n-grams; give one for each")
    if not all(math.isfinite(w) and w >= 0 for w in weights):
        raise InputError(f"weights must not be negative, but are {given}")
    if abs(sum(weights) - 1) > 1e-6:
        raise InputError(f"weights must sum to 1, but {given} sum to {sum(weights):g}")


# ------------------------------------------------------------------------------------------------ in one call


def bleu(hypotheses: Sequence[str], references: References, **options: Any) -> BleuScore:
    """Corpus BLEU of `hypotheses` against one or several lists of references of the same length; options as in `Bleu`.

    >>> print(bleu(["the cat is on the mat"], ["the cat is on the mat"]))
    BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
    """
    metric = Bleu(**options)
    return metric.score(metric.stats(hypotheses, references))


def sentence_bleu(hypothesis: str, references: Sequence[str], **options: Any) -> BleuScore:
    """BLEU of one sentence against its references. Orders longer than the sentence are left out, as in sacreBLEU's
    `sentence_bleu`, unless `effective_order=False`. The score of a single sentence is not reliable."""
    if isinstance(references, str):
        raise InputError(f"references must be a list of texts, but is a single string; write [{references[:30]!r}]")
    metric = Bleu(**{"effective_order": True, **options})
    return metric.score(metric.stats([hypothesis], [[reference] for reference in references]))
