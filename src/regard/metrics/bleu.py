"""Corpus BLEU, with the formula in sight (Papineni et al., 2002, "BLEU: a Method for Automatic Evaluation of
Machine Translation"; smoothing as in Chen and Cherry, 2014).

    BLEU = BP · exp( 1/N · Σ log p_n )      p_n = clipped matches of n-grams / n-grams in the hypotheses

The way is tokens → statistics of each line → their sum → score. Statistics are whole numbers that add up: a
subset or a resample of a corpus is a sum of rows. The number is sacreBLEU's, and so is its signature.

This file does not tokenise (`lines.py` fetches sacreBLEU's tokenisers) and reads no file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.metrics.lines import checked_lines, tokenizer, unknown

MAX_ORDER = 4
SMOOTHING: dict[str, float | None] = {
    "exp": None,
    "floor": 0.1,
    "add-k": 1.0,
    "none": None,
}  # name → its default value

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
    """Matches, each n-gram credited at most as often as one reference has it: "the" × 6 against 2 gives 2."""
    return sum(min(count, most[ngram]) for ngram, count in hypothesis.items() if ngram in most)


def closest_length(hyp_len: int, ref_lens: Sequence[int]) -> int:
    """The reference length nearest to the hypothesis; of two equally near, the shorter."""
    return min(ref_lens, key=lambda ref_len: (abs(ref_len - hyp_len), ref_len))


def brevity_penalty(hyp_len: int, ref_len: int) -> float:
    """1 where the hypotheses are long enough, else e^(1 − r/c)."""
    if hyp_len >= ref_len:
        return 1.0
    return math.exp(1 - ref_len / hyp_len) if hyp_len > 0 else 0.0


def smoothed_precisions(correct: Sequence[int], total: Sequence[int], smooth: str, value: float | None) -> list[float]:
    """p_1 … p_N in percent; 0 from the first order that no hypothesis is long enough for.

    none: 0 matches stay 0.  floor: 0 matches count as `value`.  exp: the k-th order without a match counts as
    1/2^k matches (NIST's mteval).  add-k: k = `value` more matches and k more n-grams from n = 2 on.
    """
    precisions = [0.0] * len(correct)
    if not any(correct):  # nothing matched at all: there is nothing to smooth
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


def geometric_mean(precisions: Sequence[float]) -> float:
    if not precisions or min(precisions) == 0:
        return 0.0
    return math.exp(sum(math.log(p) for p in precisions) / len(precisions))


# ------------------------------------------------------------------------------------------------ statistics


@dataclass(frozen=True)
class BleuStats:
    """What was counted, one row a line, and how: everything a score and its signature need."""

    rows: NDArray[np.int64]  # (lines, 2 + 2N): hyp_len, ref_len, correct 1…N, total 1…N
    tokenize: str = "13a"
    lowercase: bool = False
    references: int = 1

    @property
    def order(self) -> int:
        return int(self.rows.shape[1] - 2) // 2

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, lines: Any) -> BleuStats:
        """The statistics of some lines, by whatever numpy indexes rows with; a repeated line counts again."""
        rows = self.rows[lines].reshape(-1, self.rows.shape[1])
        return BleuStats(rows, self.tokenize, self.lowercase, self.references)

    def sum(self) -> BleuStats:
        """The whole corpus as one row."""
        rows = self.rows.sum(axis=0, keepdims=True)
        return BleuStats(rows, self.tokenize, self.lowercase, self.references)


def line_stats(hypothesis: Sequence[str], references: Sequence[Sequence[str]], order: int) -> list[int]:
    """One row of `BleuStats` from tokens.

    >>> line_stats("the the the the the the".split(), ["the cat is on the mat".split()], 2)
    [6, 6, 2, 0, 6, 5]
    """
    correct, total = [], []
    for n in range(1, order + 1):
        counts = ngram_counts(hypothesis, n)
        most = most_in_one_reference(ngram_counts(reference, n) for reference in references)
        correct.append(clipped_matches(counts, most))
        total.append(max(0, len(hypothesis) - n + 1))
    ref_len = closest_length(len(hypothesis), [len(reference) for reference in references])
    return [len(hypothesis), ref_len, *correct, *total]


def bleu_stats(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    max_order: int = MAX_ORDER,
) -> BleuStats:
    """Statistics line by line. `references` is one list of lines, or several such lists (streams)."""
    lines, streams = checked_lines(hypotheses, references)
    if max_order < 1:
        raise InputError(f"max_order must be 1 or more, but is {max_order}")
    split = tokenizer(tokenize)

    def tokens(line: str) -> list[str]:
        words: list[str] = split((line.lower() if lowercase else line).rstrip()).split()
        return words

    rows = [
        line_stats(tokens(line), [tokens(reference) for reference in refs], max_order)
        for line, *refs in zip(lines, *streams, strict=True)
    ]
    return BleuStats(np.array(rows, dtype=np.int64), tokenize, lowercase, len(streams))


# ------------------------------------------------------------------------------------------------ scores


@dataclass(frozen=True)
class BleuScore:
    """A score, its parts and its provenance. Score and precisions are 0–100; counts are before smoothing."""

    score: float
    precisions: tuple[float, ...]
    bp: float
    hyp_len: int
    ref_len: int
    correct: tuple[int, ...]
    total: tuple[int, ...]
    signature: str

    @property
    def ratio(self) -> float:
        return self.hyp_len / self.ref_len if self.ref_len else 0.0

    def __str__(self) -> str:
        precisions = "/".join(f"{p:.1f}" for p in self.precisions)
        lengths = f"ratio = {self.ratio:.3f} hyp_len = {self.hyp_len} ref_len = {self.ref_len}"
        return f"BLEU = {self.score:.2f} {precisions} (BP = {self.bp:.3f} {lengths})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        fields = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}
        return {"name": "BLEU", **fields, "ratio": self.ratio}


def score(
    stats: BleuStats, *, smooth: str = "exp", smooth_value: float | None = None, effective_order: bool = False
) -> BleuScore:
    """The BLEU of all lines in `stats`. `effective_order` leaves out orders longer than every hypothesis."""
    if smooth not in SMOOTHING:
        raise unknown("smoothing", smooth, SMOOTHING)
    value = SMOOTHING[smooth] if smooth_value is None else smooth_value
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise InputError(f"smooth_value must be 0 or more, but is {value}")
    hyp_len, ref_len, *counts = stats.rows.sum(axis=0).tolist()
    correct, total = counts[: stats.order], counts[stats.order :]
    precisions = smoothed_precisions(correct, total, smooth, value)
    bp = brevity_penalty(hyp_len, ref_len)
    counted = precisions
    if effective_order:
        counted = [p for p, ngrams in zip(precisions, total, strict=True) if ngrams > 0 or p > 0]
    return BleuScore(
        score=bp * geometric_mean(counted),
        precisions=tuple(precisions),
        bp=bp,
        hyp_len=hyp_len,
        ref_len=ref_len,
        correct=tuple(correct),
        total=tuple(total),
        signature=signature(stats, smooth=smooth, smooth_value=value, effective_order=effective_order),
    )


def signature(stats: BleuStats, *, smooth: str, smooth_value: float | None, effective_order: bool) -> str:
    """sacreBLEU's own string, to be read and compared as such; the version is that of the sacreBLEU whose
    tokeniser split the lines. Where N is not 4, which sacreBLEU leaves unsaid, `order` says so."""
    from sacrebleu import __version__

    named = smooth if SMOOTHING[smooth] is None else f"{smooth}[{smooth_value:.2f}]"
    parts = {
        "nrefs": stats.references,
        "case": "lc" if stats.lowercase else "mixed",
        "eff": "yes" if effective_order else "no",
        "tok": tokenizer(stats.tokenize).signature(),
        "smooth": named,
        **({"order": stats.order} if stats.order != MAX_ORDER else {}),
        "version": __version__,
    }
    return "|".join(f"{name}:{part}" for name, part in parts.items())


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    smooth: str = "exp",
    smooth_value: float | None = None,
    max_order: int = MAX_ORDER,
    effective_order: bool = False,
) -> BleuScore:
    """Corpus BLEU of `hypotheses` against one list of references, or several lists as long as the hypotheses.

    >>> print(bleu(["the cat is on the mat"], ["the cat is on the mat"]))
    BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
    """
    stats = bleu_stats(hypotheses, references, tokenize=tokenize, lowercase=lowercase, max_order=max_order)
    return score(stats, smooth=smooth, smooth_value=smooth_value, effective_order=effective_order)
