"""What a translated sentence costs, part by part: the search, what the checks add, what goes to the native engine.

python benchmarks/checks.py --src FILE --lines 100                  a model in the box, one sentence at a time
python benchmarks/checks.py --src FILE --model FOLDER --ref FILE    another one; BLEU of what it said, too

CPU seconds of this process, so that other work on the machine changes little. Set OMP_NUM_THREADS=1 to measure one
thread. The first line is translated once before, uncounted. The first sentence that needs the native engine imports
torch and loads it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.text_files import read_lines
from regard.metrics.bleu import bleu
from regard.report.table import Table
from regard.search.ctranslate2_engine import CTranslate2Engine
from regard.search.engine import Engine, Hypothesis, Ids, Progress, SearchRequest, Weights
from regard.search.options import SearchOptions
from regard.translator import Translator


@dataclass
class Ledger:
    """CPU seconds and requests of each part; what a part spends within another is its own."""

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    requests: Counter[str] = field(default_factory=Counter)
    _within: list[float] = field(default_factory=list)

    @contextmanager
    def part(self, name: str, requests: int) -> Iterator[None]:
        began = time.process_time()
        self._within.append(0.0)
        try:
            yield
        finally:
            spent = time.process_time() - began
            self.seconds[name] += spent - self._within.pop()
            self.requests[name] += requests
            if self._within:
                self._within[-1] += spent


@dataclass(frozen=True)
class TimedEngine:
    """An engine whose work is written into a ledger. The first search of a sentence is told from further ones."""

    engine: Engine
    ledger: Ledger
    name: str
    searched: set[Ids] = field(default_factory=set)

    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        again = bool(requests) and requests[0].ids in self.searched
        self.searched.update(one.ids for one in requests)
        with self.ledger.part(f"{self.name}: {'searching again' if again else 'search'}", len(requests)):
            return self.engine.search(requests, options, progress)

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        with self.ledger.part(f"{self.name}: attention of a given translation", len(sources)):
            return self.engine.attention(sources, targets)

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        with self.ledger.part(f"{self.name}: probabilities of a given translation", len(sources)):
            return self.engine.log_probs(sources, targets)

    def next_log_probs(self, sources: Sequence[Ids], prefixes: Sequence[Ids]) -> list[NDArray[np.float64]]:
        return self.engine.next_log_probs(sources, prefixes)


class TimedTranslator(Translator):
    ledger: Ledger

    def engine(self, *given: Any, **options: Any) -> Engine:
        made = super().engine(*given, **options)
        if not isinstance(made, CTranslate2Engine):
            return TimedEngine(made, self.ledger, "native")

        def make_native() -> Engine:
            with self.ledger.part("native: loading it", 1):
                return TimedEngine(made.make_native(), self.ledger, "native")

        return TimedEngine(replace(made, make_native=make_native), self.ledger, "CTranslate2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--src", type=Path, required=True, help="sentences, one a line")
    parser.add_argument("--ref", type=Path, help="their translations, for BLEU")
    parser.add_argument("--lines", type=int, default=100, metavar="N", help="[default: 100]")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="lines before the first  [default: 0]")
    parser.add_argument("--model", default="en-fr", help="a model, or the name of one in the box  [default: en-fr]")
    parser.add_argument("--engine", choices=("ctranslate2", "native"), default="ctranslate2")
    given = parser.parse_args()
    chosen = slice(given.skip, given.skip + given.lines)
    sources = list(read_lines(given.src))[chosen]
    translator = TimedTranslator.load(given.model, device="cpu", engine=given.engine)
    translator.ledger = Ledger()
    translator.translate(sources[0])
    translator.ledger, each, found = Ledger(), [], []
    for line in sources:
        began = time.process_time()
        with translator.ledger.part("everything else", 1):
            found.append(translator.translate(line))
        each.append(1000 * (time.process_time() - began))
    whole = sum(translator.ledger.seconds.values())
    rows = [
        [name, f"{translator.ledger.requests[name]:,}", f"{spent:.2f}", f"{100 * spent / whole:.1f}%"]
        for name, spent in sorted(translator.ledger.seconds.items(), key=lambda one: -one[1])
    ]
    print(Table(["part", "requests", "CPU s", "share"], rows).markdown())
    print(
        f"\n{len(each)} lines: median {statistics.median(each):.0f} ms, mean {statistics.mean(each):.0f} ms of CPU time"
    )
    spans = Counter(one.status for line in found for sentence in line.sentences for one in sentence.protected)
    doubtful = sum(bool(line.doubtful) for line in found)
    print(f"spans that must survive: {dict(spans)}; {doubtful} lines with a doubtful sentence")
    if given.ref:
        print(bleu([line.text for line in found], list(read_lines(given.ref))[chosen]))


if __name__ == "__main__":
    main()
