"""The length penalty, as its formula; `tensor_penalties.py` has the penalties of a search in tensors."""

from __future__ import annotations


def length_penalty(length: int, alpha: float) -> float:
    """lp(Y) = ((5 + |Y|) / 6)^α, EOS counted; a hypothesis is ranked by log P(Y) / lp(Y) (Wu et al. 2016).

    >>> length_penalty(1, 0.6), round(length_penalty(13, 0.5), 3)
    (1.0, 1.732)
    """
    return float(((5 + length) / 6) ** alpha)
