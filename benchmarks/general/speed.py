"""How large a model is and how fast, as `regard translate` uses it, and in the same run beside another one.

CTranslate2 in 8 bits with the default options: sentences are cut, spans protected, doubtful ones tried again.
Both take turns, sentence by sentence, so that what else the machine does is the same for both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from general.measure import Candidate
from regard.bundle.folder import weights_file
from regard.decode.converted_model import usable_cores
from regard.files import checksum

SINGLE, BULK, ROUNDS, WARM = 50, 100, 3, 5  # sentences one by one, sentences at once, how often, before it counts


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def size(folder: Path) -> dict[str, Any]:
    """With a checksum, which tells whose figures they are."""
    file = weights_file(folder)
    return {"weights_bytes": file.stat().st_size, "weights_checksum": checksum(file)}


def speed(model: Candidate, sources: Sequence[str], other: Candidate | None, its: Sequence[str]) -> dict[str, Any]:
    """Sentences/s and the median latency of one sentence in ms. `other` translates `its` sentences: the same ones, in
    its own language."""
    both = [(model, sources), *([(other, its)] if other else [])]
    calls = [(partial(one.any.translate, tag=one.tag), lines) for one, lines in both]
    for call, lines in calls:
        for line in lines[:WARM]:
            call(line)
    single: list[list[float]] = [[] for _ in calls]
    for i in range(min(SINGLE, len(sources))):
        for (call, lines), times in zip(calls, single, strict=True):
            times.append(seconds(partial(call, lines[i])))
    bulk = [[len(lines[:BULK]) / seconds(partial(call, lines[:BULK])) for call, lines in calls] for _ in range(ROUNDS)]
    latency = [1000 * statistics.median(times) for times in single]
    rates = [statistics.median(some) for some in zip(*bulk, strict=True)]
    found = {
        "cores": usable_cores(),
        "sentences": len(single[0]),
        "latency_ms": latency[0],
        "sentences_per_s": rates[0],
    }
    if other is not None:
        found["beside"] = {
            "latency_ms": latency[1],
            "sentences_per_s": rates[1],
            "latency_ratio": latency[0] / latency[1],
            "rate_ratio": statistics.median(one[0] / one[1] for one in bulk),
        }
    return found
