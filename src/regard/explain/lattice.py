"""The beam search of one sentence as a lattice: every continuation it weighed, what became of it, and why.

The search itself keeps the record (`search/search_trace.py`); nothing is searched again here. A node is one
token said after another node. Its fate is what the search did with it, and at the end what became of those that were
still going or had ended:

    kept         goes on to the next step
    finished     ended, and is in the n-best list
    crowded out  b better continuations had gone on before its turn came
    outranked    ended, but b hypotheses that had ended rank above it
    overtaken    ended and was among the b best, until better ones ended
    abandoned    was still going when the search stopped
    cut off      was still going at the length limit, and is in the n-best list because nothing had ended

The n-best list is the search's own, so two entries may be the same text in other tokens; `replayed` makes it again from
the nodes alone, and a test holds the two equal. The search is the one whose result `translate` gives: where something
must be said, it is constrained and its rows are more than the beam (`search/constrained_beam.py`), and where the guard
took a second search, it is that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from regard.batch import EOS, pad_sources
from regard.bundle.bundle import Bundle
from regard.explain.grid import EOS as EOS_LABEL
from regard.explain.request import Request, request
from regard.search.constrained_beam import constrained_width
from regard.search.engine import Hypothesis
from regard.search.search import beam_search
from regard.search.search_trace import Considered, SearchTrace
from regard.text.slots import fill
from regard.translation.translator import TextTranslator

NodeFate = Literal["kept", "finished", "crowded out", "outranked", "overtaken", "abandoned", "cut off"]
START = -1  # the parent of the first tokens

ENDINGS = {
    "all ended": "every continuation ended",
    "length limit": "the length limit was reached",
    "none better": "{beam} had ended and none still going ranked above them",
}


@dataclass(frozen=True)
class Node:
    """One token of one hypothesis."""

    step: int  # from 1: tokens of the hypothesis up to and with this one
    parent: int  # the node before it, START at the beginning
    token: int
    piece: str
    log_prob: float  # of the token
    total: float  # log P of the hypothesis so far
    score: float  # what it is ranked by if it is complete here: total / lp(step)
    fate: NodeFate
    reason: str
    rank: int | None = None  # its place in the n-best list, from 1, where a hypothesis of it ends here
    leads_to: int | None = None  # the best place in the n-best list that a way through it has


@dataclass(frozen=True)
class Entry:
    """One entry of the n-best list."""

    text: str  # as `translate` gives it
    log_prob: float
    score: float
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    source: str  # as the model reads it, slots filled
    beam: int
    rows: int  # hypotheses that go on at each step: the beam, or more where something must be said
    length_penalty: float
    note: str  # what is special about the search, empty for a usual one
    ending: str
    nodes: tuple[Node, ...]  # by step, and within it best first as the search weighed them
    nbest: tuple[Entry, ...]

    @property
    def steps(self) -> int:
        return max((node.step for node in self.nodes), default=0)

    def at(self, step: int) -> list[int]:
        """The numbers of the nodes of a step."""
        return [number for number, node in enumerate(self.nodes) if node.step == step]


def lattice(
    model: TextTranslator | Bundle,
    text: str,
    beam: int | None = None,
    length_penalty: float | None = None,
    *,
    sentence: int | None = None,
    guard: bool = True,
) -> Lattice:
    """The search for one sentence; beam and length penalty are the model's own unless given. Of a text of several
    sentences, `sentence` chooses one, from 0. Without `guard`, it is the first search also of a doubtful sentence."""
    return lattice_of(request(model, text, sentence=sentence, beam=beam, length_penalty=length_penalty, guard=guard))


def lattice_of(asked: Request) -> Lattice:
    """The search for a sentence."""
    tokenizer, (taken, demand) = asked.bundle.tokenizer, asked.result.search
    constraint = asked.pipeline.constraint(asked.unit.ids, demand, taken)
    rows = taken.beam if constraint is None else constrained_width(taken.beam, constraint)
    src, mask = (tensor.to(asked.bundle.model.device) for tensor in pad_sources([asked.unit.ids]))
    records: list[SearchTrace] = []
    (found,) = beam_search(asked.bundle.model, src, mask, taken.beam, taken.length_penalty, records, [constraint])
    labels = dict(enumerate(tokenizer.target.labels(range(tokenizer.target_size), asked.slots.target)))
    nodes = nodes_of(records[0], found, taken.beam, rows, labels | {EOS: EOS_LABEL})
    given = {candidate.ids: candidate.text for candidate in asked.result.candidates}
    texts = [given.get(h.ids) or asked.restored(h.ids) for h in found]
    nbest = _entries(nodes, found, texts)
    ending = ENDINGS[records[0].ending or "all ended"].format(beam=taken.beam)
    source = fill(asked.source, asked.slots.source)
    notes = [asked.searched()] if taken != asked.pipeline.search else []
    notes += [] if constraint is None else [f"{rows} rows, because something must be said"]
    settings = taken.beam, rows, taken.length_penalty, " · ".join(notes)
    return Lattice(source, *settings, ending, tuple(_led(nodes, nbest)), nbest)


def nodes_of(
    record: SearchTrace, found: list[Hypothesis], beam: int, width: int, labels: Mapping[int, str]
) -> list[Node]:
    """A record of the search and the n-best list that it gave, as nodes that know their parents and their ends."""
    nodes: list[Node] = []
    said: list[tuple[int, ...]] = []  # the tokens up to and with each node
    live = [START]  # the node behind each of the search's rows
    ranks = {(h.ids, len(h.log_probs)): rank for rank, h in enumerate(found, start=1)}  # cut off: no EOS is counted
    for step, weighed in enumerate(record.steps, start=1):
        last, kept = step == len(record.steps), []
        bar = min((c.total for c in weighed if c.fate == "kept"), default=0.0)
        for one in weighed:
            parent = live[one.row]
            words = (*(said[parent] if parent != START else ()), one.token)
            complete = words[:-1] if one.token == EOS else words
            ended = last or one.token == EOS
            rank = ranks.get((complete, step)) if ended and one.fate != "crowded out" else None
            fate = _fate(one, rank, last)
            reason = _reason(one, fate, record, (beam, width), bar, found)
            if one.fate == "kept":
                kept.append(len(nodes))
            values = (one.log_prob, one.total, one.score)
            nodes.append(Node(step, parent, one.token, labels[one.token], *values, fate, reason, rank))
            said.append(words)
        live = kept
    return nodes


def _fate(one: Considered, rank: int | None, last: bool) -> NodeFate:
    if one.fate == "kept" and last:
        return "cut off" if rank is not None else "abandoned"
    if one.fate == "finished" and rank is None:
        return "overtaken"
    return one.fate


def _reason(
    one: Considered, fate: NodeFate, record: SearchTrace, widths: tuple[int, int], bar: float, found: list[Hypothesis]
) -> str:
    beam, rows = widths
    worst = found[-1].score if found else 0.0
    crowded = f"{beam} better ones went on: log P {one.total:.3f} is not above the last of them, {bar:.3f}"
    if rows > beam:  # the rows are shared over hypotheses that have said more and less of it
        crowded = f"{rows} others went on, which are better or have said more of what must be said"
    return {
        "kept": f"among the {rows} best that go on",
        "finished": "ended, and is in the n-best list",
        "crowded out": crowded,
        "outranked": f"ended, but {beam} that had ended rank above its score {one.score:.3f}",
        "overtaken": f"ended with score {one.score:.3f}, until {beam} better ones had ended",
        "abandoned": (
            "still going at the length limit, where others had ended"
            if record.ending == "length limit"
            else f"still going when the search stopped: its score {one.score:.3f} is not above the {beam} that ended, "
            f"the last with {worst:.3f}"
        ),
        "cut off": "still going at the length limit, where nothing had ended",
    }[fate]


def _entries(nodes: list[Node], found: list[Hypothesis], texts: list[str]) -> tuple[Entry, ...]:
    ends = {node.rank: number for number, node in enumerate(nodes) if node.rank is not None}
    paths = []
    for rank, (hypothesis, text) in enumerate(zip(found, texts, strict=True), start=1):
        way, number = [], ends[rank]
        while number != START:
            way.append(number)
            number = nodes[number].parent
        paths.append(Entry(text, hypothesis.log_prob, hypothesis.score, tuple(reversed(way))))
    return tuple(paths)


def _led(nodes: list[Node], nbest: tuple[Entry, ...]) -> list[Node]:
    best: dict[int, int] = {}
    for rank, path in enumerate(nbest, start=1):
        for number in path.nodes:
            best.setdefault(number, rank)
    return [replace(node, leads_to=best.get(number)) for number, node in enumerate(nodes)]


def replayed(lattice: Lattice) -> list[Hypothesis]:
    """The n-best list made again from the nodes alone: those that ended in it, with the tokens on the way to them."""
    ends = [node for node in lattice.nodes if node.fate in ("finished", "cut off")]
    found = []
    for end in sorted(ends, key=lambda node: -node.score):
        way = [end]
        while way[0].parent != START:
            way.insert(0, lattice.nodes[way[0].parent])
        ids = tuple(node.token for node in way if node.token != EOS)
        found.append(Hypothesis(ids, tuple(node.log_prob for node in way), end.score))
    return found


def as_dict(lattice: Lattice) -> dict[str, Any]:
    """For JSON, in a fixed order."""
    return {
        "source": lattice.source,
        "beam": lattice.beam,
        "rows": lattice.rows,
        "length_penalty": lattice.length_penalty,
        "note": lattice.note,
        "ending": lattice.ending,
        "nbest": [asdict(path) for path in lattice.nbest],
        "nodes": [{"node": n} | asdict(node) for n, node in enumerate(lattice.nodes)],
    }
