"""The search strategies, in one table: how a batch of sources becomes hypotheses.

A strategy knows a model by its contract alone (`models/base.py`) and what must be said by that of a constraint
(`constraints.py`). To add one: a file with its algorithm, a line in `SEARCHES`, and what selects it in
`SearchOptions.strategy`. Sentences with a constraint are searched apart from the others, whose search stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict

from torch import Tensor

from regard.decode.beam import beam_search
from regard.decode.constraints import Constraint
from regard.decode.greedy import greedy
from regard.decode.hypothesis import Hypothesis
from regard.decode.options import SearchOptions
from regard.decode.sampling import sample
from regard.models.base import Model


def constrained_width(beam: int, constraint: Constraint) -> int:
    """Rows of a constrained sentence: more than `beam`, because hypotheses that have said more and less of what must
    be said are kept side by side; a beam of 1 could not wait with a phrase. At most three times as many."""
    return beam * min(3, 1 + -(-constraint.needs // beam))


Constraints = Sequence[Constraint]
Search = Callable[[Model, Tensor, Tensor, SearchOptions, Constraints | None], list[list[Hypothesis]]]


def _greedy(
    model: Model, src: Tensor, mask: Tensor, options: SearchOptions, constraints: Constraints | None
) -> list[list[Hypothesis]]:
    if constraints is not None:
        return _beam(model, src, mask, options, constraints)
    return [[hypothesis] for hypothesis in greedy(model, src, mask)]


def _beam(
    model: Model, src: Tensor, mask: Tensor, options: SearchOptions, constraints: Constraints | None
) -> list[list[Hypothesis]]:
    width = options.beam if not constraints else constrained_width(options.beam, constraints[0])
    alpha, keep = options.length_penalty, options.beam
    return beam_search(model, src, mask, width, alpha, constraints=constraints, keep=keep)


def _sampling(
    model: Model, src: Tensor, mask: Tensor, options: SearchOptions, constraints: Constraints | None
) -> list[list[Hypothesis]]:
    assert options.sampling is not None
    return sample(model, src, mask, options.nbest, **asdict(options.sampling), constraints=constraints)


SEARCHES: dict[str, Search] = {"greedy": _greedy, "beam": _beam, "sampling": _sampling}


def search(
    model: Model,
    src: Tensor,
    mask: Tensor,
    options: SearchOptions,
    constraints: Sequence[Constraint | None] | None = None,
) -> list[list[Hypothesis]]:
    """The n-best list of every source: src (B, S) ids with EOS, mask (B, S), and for each source its constraint or
    None. A hypothesis that ended has met its constraint; one that could not is cut off at the length limit."""
    strategy = SEARCHES[options.strategy]
    if constraints is None or not any(constraints):
        return [some[: options.nbest] for some in strategy(model, src, mask, options, None)]
    groups: dict[int, list[int]] = defaultdict(list)  # sentences of equal width; 0: without a constraint
    for sentence, constraint in enumerate(constraints):
        groups[0 if constraint is None else constrained_width(options.beam, constraint)].append(sentence)
    found: list[list[Hypothesis]] = [[] for _ in constraints]
    for width, sentences in groups.items():
        rules = [c for i in sentences if (c := constraints[i]) is not None] if width else None
        longest = int(mask[sentences].sum(1).max())
        made = strategy(model, src[sentences, :longest], mask[sentences, :longest], options, rules)
        for sentence, some in zip(sentences, made, strict=True):
            found[sentence] = some[: options.nbest]
    return found
