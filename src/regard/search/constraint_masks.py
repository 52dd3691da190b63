"""Applies the constraints of hypotheses to the log-probabilities of one search step.

    N rows   V vocabulary

`constraints.py` defines what a hypothesis must and must not contain, without tensors. A search with other tensors needs
only these three functions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

from regard.batch import EOS
from regard.search.constraints import Constraint, closing_tokens

BEST_OF_ROW = 3  # continuations considered for each row, independently of the other rows
Continuation = tuple[int, int, float]  # row, token, log-probability of the token


def permitted(log_probs: Tensor, constraints: Sequence[Constraint | None], rooms: Sequence[int]) -> Tensor:
    """Sets every token that may not come next to −∞: (N, V) → (N, V). `rooms`: the number of tokens each row may still
    generate before EOS. When the required tokens take all of the room, only they are permitted; when nothing more is
    required, only EOS, if it may come yet."""
    rows: list[int] = []
    tokens: list[int] = []
    ended_early: list[int] = []
    only: list[tuple[int, int]] = []
    may_end = (log_probs[:, EOS] > -math.inf).tolist()
    for row, (constraint, room) in enumerate(zip(constraints, rooms, strict=True)):
        if constraint is None:
            continue
        if room <= constraint.needs + constraint.margin and (constraint.needs or may_end[row]):
            ended_early.append(row)
            only += [(row, token) for token in closing_tokens(constraint)]
        else:
            forbidden = constraint.forbidden()
            rows += [row] * len(forbidden)
            tokens += forbidden
    if not rows and not ended_early:
        return log_probs
    masked = log_probs.clone()
    if rows:
        masked[rows, tokens] = -math.inf
    if ended_early:
        masked[ended_early] = -math.inf
    if only:
        place = tuple(torch.tensor(only, device=log_probs.device).T)
        masked[place] = log_probs[place]
    return masked


def candidate_tokens(log_probs: Tensor, constraints: Sequence[Constraint | None]) -> list[list[tuple[int, float]]]:
    """Returns, for every row with a constraint, its best tokens and the wanted ones (EOS if nothing more is required)
    with their log-probabilities, given (N, V) from `permitted`."""
    found: list[list[tuple[int, float]]] = [[] for _ in constraints]
    bound = [row for row, constraint in enumerate(constraints) if constraint is not None]
    if not bound:
        return found
    best, tokens = log_probs[bound].topk(min(BEST_OF_ROW, log_probs.shape[-1]), dim=-1)
    for row, values, ids in zip(bound, best.tolist(), tokens.tolist(), strict=True):
        found[row] += zip(ids, values, strict=True)
    wanted = [(row, t) for row, c in enumerate(constraints) if c is not None for t in c.wanted() or (EOS,)]
    rows, asked = (list(side) for side in zip(*wanted, strict=True))
    for row, t, value in zip(rows, asked, log_probs[rows, asked].tolist(), strict=True):
        found[row].append((t, value))
    return [[(t, value) for t, value in of_row if value > -math.inf] for of_row in found]


def allocate_banks(candidates: Sequence[Continuation], banks: Sequence[int], width: int) -> list[int]:
    """Chooses candidates by dynamic beam allocation (Post & Vilar 2018); returns their indices in ascending order.

    Candidates (best first) that have generated equally many required tokens form a bank. Banks take turns, the one with
    the most required tokens first and the others by their best candidate, until `width` candidates continue; one that
    ends takes no place.

    >>> allocate_banks([(0, 5, -0.1), (0, 6, -0.2), (1, 9, -7.0)], [0, 0, 1], 2)
    [0, 2]
    """
    queues: dict[int, list[int]] = defaultdict(list)
    for i, bank in enumerate(banks):
        queues[bank].append(i)
    first = max(queues, default=0)
    turns = sorted(queues, key=lambda bank: (bank != first, queues[bank][0]))
    waiting = [iter(queues[bank]) for bank in turns]
    taken: list[int] = []
    going_on = 0
    while waiting and going_on < width:
        still = []
        for queue in waiting:
            for i in queue:
                if candidates[i][1] == EOS:
                    taken.append(i)
                elif going_on < width:
                    taken.append(i)
                    going_on += 1
                    still.append(queue)
                    break
                else:
                    break
        waiting = still
    return sorted(taken)
