"""A branch of the beam search that was given up, gone on with: the way to a node of the lattice is forced.

The search runs again, as it did, but every hypothesis begins with the tokens up to the node. Its score can be compared
with that of the best entry of the n-best list: both are ranked by the same length penalty.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.batch import EOS
from regard.errors import InputError
from regard.explain.again import search_again
from regard.explain.lattice import START, Lattice
from regard.explain.request import Request


@dataclass(frozen=True)
class ResumedBranch:
    node: int
    prefix: str  # what is forced, as it is given back
    text: str  # the best translation that goes on so
    log_prob: float
    score: float


def resume(asked: Request, lattice: Lattice, node: int) -> ResumedBranch:
    """`asked` must be what the lattice was made of."""
    if not 0 <= node < len(lattice.nodes):
        raise InputError(f"node must be from 0 to {len(lattice.nodes) - 1} in this lattice, but is {node}")
    way: list[int] = []
    at = node
    while at != START:
        way.insert(0, lattice.nodes[at].token)
        at = lattice.nodes[at].parent
    ended = way[-1] == EOS
    start = way[:-1] if ended else way
    if ended:
        one = lattice.nodes[node]
        return ResumedBranch(node, asked.restored(start), asked.restored(start), one.total, one.score)
    found = search_again(asked, asked.bundle.model, start)
    return ResumedBranch(node, asked.restored(start), asked.restored(found.ids), found.log_prob, found.score)
