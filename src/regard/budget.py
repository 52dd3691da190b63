"""Groups of sentences of similar length that fill a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def budgeted(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices, longest first, in groups whose padded size stays within the budget (a lone long one may exceed it).

    >>> list(budgeted([3, 9, 4], budget=12))
    [[1], [2, 0]]
    """
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if group and (len(group) + 1) * (lengths[group[0]] + 1) > budget:  # + EOS
            yield group
            group = []
        group.append(i)
    if group:
        yield group
