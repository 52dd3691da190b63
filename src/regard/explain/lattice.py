"""The beam search of one sentence as a lattice: every continuation it considered, whether it was kept, and why.

The search itself records it (`search/search_trace.py`); nothing is searched again here. A node is one token that
continues another node. Its fate is what the search did with it, and at the end what became of hypotheses that were
unfinished or had ended:

    kept         continues in the next step
    finished     ended, and is in the n-best list
    crowded out  b better continuations were kept before it
    outranked    ended, but b hypotheses that had ended rank above it
    overtaken    ended and was among the b best, until better ones ended
    abandoned    was unfinished when the search stopped
    cut off      was unfinished at the length limit, and is in the n-best list because nothing had ended

The n-best list is the search's own, so two entries may be the same text in different tokens. The search has the options
of the one whose result `translate` returns: a constrained search has more rows than the beam, and if the guard accepted
a second search, it is that one. It runs in torch; if its best translation is not the one that `translate` returns (by
CTranslate2 in 8 bits, or changed after the search), the note says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from regard.batch import EOS, pad_sources
from regard.bundle.bundle import Bundle
from regard.explain.grid import EOS as EOS_LABEL
from regard.explain.sentence_pair import ExplainedSource, explained_source
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

    step: int  # from 1: number of tokens of the hypothesis up to and including this one
    parent: int  # the previous node, START at the beginning
    token: int
    piece: str
    log_prob: float  # of the token
    total: float  # log P of the hypothesis so far
    score: float  # its score if it is complete here: total / lp(step)
    fate: NodeFate
    reason: str
    rank: int | None = None  # rank in the n-best list, from 1, if a hypothesis ends here
    leads_to: int | None = None  # best rank in the n-best list of a hypothesis through this node

    @property
    def style(self) -> Literal["best", "kept", "gone"]:
        """The style of the node in a drawing: on the path to the best hypothesis, kept, or dropped."""
        if self.leads_to == 1:
            return "best"
        return "kept" if self.fate in ("kept", "finished", "cut off") else "gone"


@dataclass(frozen=True)
class Entry:
    """One entry of the n-best list."""

    text: str  # as `translate` returns it
    log_prob: float
    score: float
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    source: str  # as the model reads it, with slots filled
    beam: int
    rows: int  # hypotheses kept at each step: the beam, or more if the output is constrained
    length_penalty: float
    note: str  # a remark on an unusual search, else empty
    ending: str
    nodes: tuple[Node, ...]  # by step, and within a step best first, in the order of the search
    nbest: tuple[Entry, ...]

    @property
    def steps(self) -> int:
        return max((node.step for node in self.nodes), default=0)

    def at(self, step: int) -> list[int]:
        """The indices of the nodes of a step."""
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
    """Returns the lattice of the search for one sentence. The defaults of beam and length penalty are the model's.
    `sentence` is an index into the text, from 0. With `guard=False` a doubtful sentence is not searched again."""
    source = explained_source(model, text, sentence=sentence, beam=beam, length_penalty=length_penalty, guard=guard)
    return lattice_of(source)


def lattice_of(source: ExplainedSource) -> Lattice:
    """The lattice of the search whose result was accepted."""
    tokenizer, (taken, demand) = source.bundle.tokenizer, source.search_run
    constraint = source.pipeline.constraint(source.unit.ids, demand, taken)
    rows = taken.beam if constraint is None else constrained_width(taken.beam, constraint)
    src, mask = (tensor.to(source.bundle.model.device) for tensor in pad_sources([source.unit.ids]))
    records: list[SearchTrace] = []
    (found,) = beam_search(source.bundle.model, src, mask, taken.beam, taken.length_penalty, records, [constraint])
    labels = dict(enumerate(tokenizer.target.labels(range(tokenizer.target_size), source.slots.target)))
    nodes = search_nodes(records[0], found, taken.beam, rows, labels | {EOS: EOS_LABEL})
    shown = source.target()
    texts = [shown.translation if h.ids == shown.ids else source.restore_text(h.ids) for h in found]
    nbest = _entries(nodes, found, texts)
    ending = ENDINGS[records[0].ending or "all ended"].format(beam=taken.beam)
    notes = [source.search_name()] if taken != source.pipeline.search else []
    notes += [] if constraint is None else [f"{rows} rows, because of required tokens"]
    notes += [f'the translation is "{shown.translation}"'] if texts[:1] != [shown.translation] else []
    settings = taken.beam, rows, taken.length_penalty, " · ".join(notes)
    read = fill(source.model_text, source.slots.source)
    return Lattice(read, *settings, ending, tuple(_with_best_ranks(nodes, nbest)), nbest)


def search_nodes(
    record: SearchTrace, found: list[Hypothesis], beam: int, width: int, labels: Mapping[int, str]
) -> list[Node]:
    """The nodes of a search, from its record and its n-best list."""
    nodes: list[Node] = []
    prefixes: list[tuple[int, ...]] = []  # the tokens up to and including each node
    live = [START]  # the node of each of the search's rows
    ranks = {(h.ids, len(h.log_probs)): rank for rank, h in enumerate(found, start=1)}  # cut off hypotheses have no EOS
    for step, considered in enumerate(record.steps, start=1):
        last, kept = step == len(record.steps), []
        bar = min((c.total for c in considered if c.fate == "kept"), default=0.0)
        for one in considered:
            parent = live[one.row]
            words = (*(prefixes[parent] if parent != START else ()), one.token)
            complete = words[:-1] if one.token == EOS else words
            ended = last or one.token == EOS
            rank = ranks.get((complete, step)) if ended and one.fate != "crowded out" else None
            fate = _fate(one, rank, last)
            reason = _reason(one, fate, record, (beam, width), bar, found)
            if one.fate == "kept":
                kept.append(len(nodes))
            values = (one.log_prob, one.total, one.score)
            nodes.append(Node(step, parent, one.token, labels[one.token], *values, fate, reason, rank))
            prefixes.append(words)
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
    crowded = f"{beam} better ones were kept: log P {one.total:.3f} is not above the last of them, {bar:.3f}"
    if rows > beam:  # rows are shared among hypotheses that satisfy more or fewer of the constraints
        crowded = f"{rows} others were kept, which are better or satisfy more constraints"
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


def path_to(nodes: Sequence[Node], number: int) -> tuple[int, ...]:
    """The indices of the nodes from the first token to node `number`."""
    path = []
    while number != START:
        path.append(number)
        number = nodes[number].parent
    return tuple(reversed(path))


def _entries(nodes: list[Node], found: list[Hypothesis], texts: list[str]) -> tuple[Entry, ...]:
    ends = {node.rank: number for number, node in enumerate(nodes)}
    return tuple(
        Entry(text, hypothesis.log_prob, hypothesis.score, path_to(nodes, ends[rank]))
        for rank, (hypothesis, text) in enumerate(zip(found, texts, strict=True), start=1)
    )


def _with_best_ranks(nodes: list[Node], nbest: tuple[Entry, ...]) -> list[Node]:
    best: dict[int, int] = {}
    for rank, path in enumerate(nbest, start=1):
        for number in path.nodes:
            best.setdefault(number, rank)
    return [replace(node, leads_to=best.get(number)) for number, node in enumerate(nodes)]


def as_dict(lattice: Lattice) -> dict[str, Any]:
    """Returns a dictionary for JSON, in a fixed order; nodes come last, with their indices."""
    fields = asdict(lattice)
    nodes = [{"node": number} | node for number, node in enumerate(fields.pop("nodes"))]
    return fields | {"nodes": nodes}
