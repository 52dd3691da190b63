"""What translates token ids: the interface of an engine. A pipeline knows nothing else of a model.

    search      sources → hypotheses, by any strategy of `options.py`
    attention   what the tokens of given translations attended to
    log_probs   how probable given translations are, token by token

`native.py` does all of it with the package's own models, in torch. Ids have neither BOS nor EOS. The result for a
request does not depend on the other requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.decode.constraints import Constraint
from regard.decode.hypothesis import Hypothesis
from regard.decode.options import SearchOptions

Ids = tuple[int, ...]
Weights = NDArray[np.float64]  # (T + 1, S + 1): the attention of each target token, EOS last on both sides
Progress = Callable[[int], None]  # called with the number of requests that were finished


class SearchRequest(NamedTuple):
    """One sentence to translate."""

    ids: Ids  # of the source, the tag's first where there is one
    constraint: Constraint | None = None
    prefix: Ids = ()  # how its translation begins


class Engine(Protocol):
    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """The n-best list of each request, in their order."""
        ...

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        """One map for each pair, of the heads that align; None where the model has no attention."""
        ...

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        """For each pair the log-probability of each target token and of EOS, (T + 1,)."""
        ...
