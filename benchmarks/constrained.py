"""Constrained search beside free search on the same lines: sentences a second, and the scores.

python benchmarks/constrained.py newstest2014.de.en --model en-de
python benchmarks/constrained.py … --write old.json      with another version of regard
python benchmarks/constrained.py … --compare old.json    the same lines, and a table that compares with that version

Each line, with a slot for each number, is searched freely and under three constraints:

    slots         each slot of the source exactly once, and no other
    own word      a word of its free translation
    other words   one or two words of translations of any lines, each with an alternative

All lines are given at once, after a few that compile kernels. Times are those of the process on a CPU, of a clock on a
GPU. Broken are hypotheses that do not meet their constraint. Equal, better (by more than 0.0001) and worse are scores
in comparison with the free translations that meet the constraint, which the constrained search should find too.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Sequence
from itertools import compress, islice
from pathlib import Path
from typing import NamedTuple

import torch

import regard
from regard.bundle.bundle import Bundle
from regard.data.text_files import read_lines
from regard.errors import RegardError
from regard.models.base import Model
from regard.models.transformer_recorded import for_search
from regard.report.table import Table
from regard.search.constraints import Constraint, EachOnce, Never, satisfies
from regard.search.engine import Hypothesis, Ids, SearchRequest
from regard.search.options import SearchOptions
from regard.search.required_terms import RequiredTerms
from regard.search.search import search
from regard.text.slots import SLOTS

WARM_UP = 32  # lines
LETTERS = 4  # of a required word, at least
ALIKE = 1e-4  # difference of scores
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Timed(NamedTuple):
    """A search: its seconds, and the best hypothesis of each request."""

    seconds: float
    requests: Sequence[SearchRequest]
    best: list[Hypothesis]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path, help="one sentence a line")
    parser.add_argument("--model", default="en-de", help="default: en-de")
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--write", type=Path, help="write seconds and scores there")
    parser.add_argument("--compare", type=Path, help="seconds and scores that another version has written")
    given = parser.parse_args()
    try:
        run(given)
    except RegardError as problem:
        print(f"benchmarks/constrained.py: {problem}", file=sys.stderr)
        sys.exit(2)


def run(given: argparse.Namespace) -> None:
    bundle = regard.load(given.model, device=given.device).bundle
    model, options = for_search(bundle.model, "auto"), SearchOptions(given.beam, bundle.decode.length_penalty)
    lines = [slotted(line) for line in islice(read_lines(given.text), given.lines) if line]
    ids = [tuple(line) for line in bundle.tokenizer.encode_source(lines)]
    searches = {"free": timed_search(model, [SearchRequest(one) for one in ids], options)}
    texts = [bundle.tokenizer.decode(one.ids) for one in searches["free"].best]
    for name, constraints in constraints_of(bundle, ids, texts).items():
        searches[name] = timed_search(model, list(map(SearchRequest, ids, constraints)), options)
    if given.write:
        written = {name: (one.seconds, [best.score for best in one.best]) for name, one in searches.items()}
        given.write.write_text(json.dumps(written), encoding="utf-8")
    print(f"{given.model}, {len(ids)} lines, beam {given.beam}, {model.device}, torch {torch.__version__}")
    rows = [[name, *map(str, row(one, searches["free"]))] for name, one in searches.items()]
    header = ["search", "sentences a second", "broken", "equal", "better", "worse"]
    print(Table(header, rows, left=(0,)).markdown())
    if given.compare:
        old = json.loads(given.compare.read_text(encoding="utf-8"))
        rows = [
            [name, f"{len(ids) / old[name][0]:.2f}", *compared(old[name][1], [best.score for best in one.best])]
            for name, one in searches.items()
        ]
        print("\nthe other version, and these scores compared with its own\n")
        print(Table(["search", "sentences a second", *header[3:]], rows, left=(0,)).markdown())


def slotted(line: str) -> str:
    """Returns the line with a slot for each number, as far as there are slots."""
    slots = iter(SLOTS)
    return NUMBER.sub(lambda found: next(slots, found[0]), line)


def timed_search(model: Model, requests: Sequence[SearchRequest], options: SearchOptions) -> Timed:
    search(model, requests[:WARM_UP], options)
    clock = time.process_time if model.device.type == "cpu" else time.perf_counter
    began = clock()
    found = search(model, requests, options)  # hypotheses are on the host, so the device has finished
    return Timed(clock() - began, requests, [some[0] for some in found])


def constraints_of(bundle: Bundle, ids: Sequence[Ids], texts: Sequence[str]) -> dict[str, list[Constraint]]:
    """Returns the constraints of each search, given the source ids and the free translations."""
    drawn, tokenizer = random.Random(1), bundle.tokenizer
    required, reserved = RequiredTerms(tokenizer), frozenset(tokenizer.slot_ids)
    target_of = dict(zip(tokenizer.source.slot_ids, tokenizer.slot_ids, strict=False))
    words = [[word for word in text.split() if word.isalpha() and len(word) >= LETTERS] or ["Paris"] for text in texts]
    every = sorted(set().union(*words))

    def terms(phrases: Sequence[Sequence[str]]) -> Constraint:
        return required.of(phrases).terms or Never(frozenset())

    return {
        "slots": [EachOnce(frozenset(target_of[i] for i in one if i in target_of), reserved) for one in ids],
        "own word": [terms([[drawn.choice(some)]]) for some in words],
        "other words": [terms([drawn.sample(every, 2) for _ in range(drawn.randint(1, 2))]) for _ in ids],
    }


def row(one: Timed, free: Timed) -> list[object]:
    """Returns a row of the table: scores are compared where the free translation meets the constraint."""
    rules = [request.constraint for request in one.requests]
    broken = sum(not satisfies(best.ids, rule) for best, rule in zip(one.best, rules, strict=True))
    met = [satisfies(best.ids, rule) for best, rule in zip(free.best, rules, strict=True)]
    scores = ([best.score for best in compress(some.best, met)] for some in (free, one))
    return [f"{len(rules) / one.seconds:.2f}", broken, *compared(*scores)]


def compared(first: Sequence[float], second: Sequence[float]) -> list[str]:
    """Returns how many of the second scores equal the first, are better, and are worse."""
    more = [b - a for a, b in zip(first, second, strict=True)]
    better, worse = sum(m > ALIKE for m in more), sum(m < -ALIKE for m in more)
    return [str(len(more) - better - worse), str(better), str(worse)]


if __name__ == "__main__":
    main()
