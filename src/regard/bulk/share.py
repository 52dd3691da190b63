"""How several processes divide a file between them."""

from __future__ import annotations

from typing import NamedTuple


class ProcessShare(NamedTuple):
    """One of `world` processes that divide a file between them: it does every chunk with number % world == rank."""

    rank: int = 0
    world: int = 1

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number % self.world == self.rank


WHOLE = ProcessShare()
