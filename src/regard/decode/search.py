"""The search strategies, in one table: how a batch of sources becomes hypotheses.

A strategy knows a model by its contract alone (`models/base.py`) and what must be said by that of a constraint
(`constraints.py`). To add one: a file with its algorithm, a line in `SEARCHES`, and what selects it in
`SearchOptions.strategy`. Sentences with a constraint are searched apart from the others, whose search stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from torch import Tensor

from regard.bundle.search_config import MOST_BEAMS
from regard.decode.beam import beam_search
from regard.decode.constraints import Constraint
from regard.decode.greedy import greedy
from regard.decode.hypothesis import Hypothesis
from regard.decode.sampling import Sampling, sample
from regard.errors import InputError
from regard.models.base import Model


@dataclass(frozen=True)
class SearchOptions:
    """What a strategy may use. `nbest` hypotheses are returned for each source."""

    beam: int
    length_penalty: float
    nbest: int = 1
    sampling: Sampling | None = None
    no_repeat: int = 0  # no run of so many tokens twice; the caller makes a constraint of it

    def __post_init__(self) -> None:
        if not isinstance(self.nbest, int):
            raise InputError(f"nbest must be a whole number, but is {self.nbest!r}")
        if not isinstance(self.sampling, Sampling | None):
            raise InputError(f"sampling must be a regard.Sampling(temperature=…), but is {self.sampling!r}")
        if self.sampling is not None:
            if not 1 <= self.nbest <= MOST_BEAMS:
                raise InputError(f"the number of samples, nbest, must be from 1 to {MOST_BEAMS}, but is {self.nbest}")
        elif not 1 <= self.nbest <= self.beam:
            remedy = f"; use a wider beam: {self.nbest}" if self.beam < self.nbest <= MOST_BEAMS else ""
            raise InputError(f"nbest must be between 1 and the beam ({self.beam}), but is {self.nbest}{remedy}")

    @property
    def strategy(self) -> str:
        if self.sampling is not None:
            return "sampling"
        return "greedy" if self.beam == 1 else "beam"

    @property
    def rows(self) -> int:
        """Hypotheses of a source that are extended at a time."""
        return self.beam if self.sampling is None else self.nbest


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
