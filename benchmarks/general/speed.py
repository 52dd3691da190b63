"""How large a model is and how fast, as `regard translate` uses it, and in the same run beside another one.

CTranslate2 in 8 bits, one sentence at a time and many at once, in two ways:

    checked   the default options: sentences are cut, spans protected, word links and confidence found, doubtful ones
              tried again. This is what a user waits for
    bare      the model's search alone

All take turns, sentence by sentence. The time of one sentence is processor time of this process, which other work on
the machine changes little; CTranslate2 translates one sentence in one thread, so on a machine with nothing else to do
it is what the clock shows. Sentences/s are by the clock.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from general.measure import Candidate
from regard.bundle.folder import weights_file
from regard.files import checksum
from regard.workers import thread_count

SINGLE, BULK, ROUNDS, WARM = 100, 100, 3, 5  # sentences one by one, sentences at once, how often, before it counts
BARE: dict[str, Any] = {"split": "lines", "protect": False, "guard": False, "precision": "auto"}
WAYS: dict[str, Mapping[str, Any]] = {"checked": {}, "bare": BARE}


class SpeedText(NamedTuple):
    """Sentences in the language of a model, and the same ones in that of the model beside it."""

    sources: Sequence[str]
    its: Sequence[str]


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


def size(folder: Path) -> dict[str, Any]:
    """With a checksum, which tells whose figures they are."""
    file = weights_file(folder)
    return {"weights_bytes": file.stat().st_size, "weights_checksum": checksum(file)}


def rates(model: Candidate, text: SpeedText, other: Candidate | None) -> dict[str, Any]:
    """Sentences/s with all checks, and how many times the other's that is."""
    both = [(model, text.sources), *([(other, text.its)] if other else [])]
    calls = [partial(one.any.translate, lines[:BULK], tag=one.tag) for one, lines in both]
    bulk = [[min(BULK, len(text.sources)) / seconds(call) for call in calls] for _ in range(ROUNDS)]
    found = {"cores": thread_count(), "sentences_per_s": statistics.median(one[0] for one in bulk)}
    if other is not None:
        found["rate_ratio"] = statistics.median(one[0] / one[1] for one in bulk)
    return found


def latency(model: Candidate, text: SpeedText, other: Candidate | None) -> dict[str, Any]:
    """Of one sentence in ms: median and mean; beside another model also how many times its median that is."""
    sides = [("", model, text.sources), *([("beside ", other, text.its)] if other else [])]
    calls = {
        f"{side}{way}": (partial(one.any.translate, tag=one.tag, **options), lines)
        for way, options in WAYS.items()
        for side, one, lines in sides
    }
    for call, lines in calls.values():
        for line in islice(lines, WARM):
            call(line)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for i in range(min(SINGLE, len(text.sources))):
        for name, (call, lines) in calls.items():
            times[name].append(1000 * seconds(partial(call, lines[i]), time.process_time))
    found: dict[str, Any] = {"sentences": min(SINGLE, len(text.sources))}
    for way in WAYS:
        figures = {"median_ms": statistics.median(times[way]), "mean_ms": statistics.mean(times[way])}
        if other is not None:
            figures["beside_median_ms"] = statistics.median(times[f"beside {way}"])
            figures["beside_mean_ms"] = statistics.mean(times[f"beside {way}"])
            figures["ratio"] = figures["median_ms"] / figures["beside_median_ms"]
        found[way] = figures
    return found
