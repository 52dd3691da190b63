"""Translate many lines by a model, as fast as it can search: no checks, no alignment, no constraints, whole lines.

    python recipes/box/translate_lines.py --model runs/teacher --seconds 120 --text a.en out/a.en out/a.fr "<fr>" 5

Of each --text (a file, where its lines and where their translations are written, the tag, the beam) as many lines are
translated as there is time for; texts whose names begin alike take turns, those that stand first come first. What looks
wrong is left out on both sides: an empty translation, one that did not end, or one of another length altogether. One
line of the output is JSON: what was translated, and what it cost. A beam of 0 draws samples.

A text's two files appear when all of it is translated or the time is over. Until then its chunks are kept beside them
(`.part`), and after a failure the same command goes on behind the last whole chunk.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from regard.bundle.bundle import Bundle
from regard.bundle.find_model import find_model
from regard.device import pick_device
from regard.files import write_atomically
from regard.models.base import Model
from regard.models.ensemble import Ensemble
from regard.models.transformer_recorded import for_search
from regard.search.batch_rows import length_limit
from regard.search.engine import SearchRequest
from regard.search.options import Sampling, SearchOptions
from regard.search.search import search
from regard.training.cost import FlopCounter

CHUNK = {"cuda": 20_000, "cpu": 100}  # lines
LONGEST = 120  # tokens of a source
RATIO = 2.0  # of the lengths in tokens, from SHORT tokens on
SHORT = 6
ALPHA = 0.6
SAMPLE = 0  # in place of a beam: each token is drawn from the TOP_K most probable ones
TOP_K = 10


@dataclass
class Tally:
    lines: int = 0
    left_out: int = 0
    tokens: int = 0
    flops: float = 0.0
    seconds: float = 0.0
    finished: bool = True  # all lines of all files


def chunks(path: Path, size: int, behind: int = 0) -> Iterator[list[str]]:
    """The lines behind the first so many."""
    with path.open(encoding="utf-8", newline="\n") as file:
        deque(islice(file, behind), maxlen=0)
        while some := [line.rstrip("\n") for line in islice(file, size)]:
            yield some


def looks_right(source: int, target: int, limit: int) -> bool:
    """By the numbers of tokens.

    >>> looks_right(10, 12, 42), looks_right(10, 0, 42), looks_right(10, 41, 42), looks_right(10, 25, 42)
    (True, False, False, False)
    """
    longer, shorter = max(source, target), min(source, target)
    return target > 0 and target + 1 < limit and (longer <= SHORT or longer <= RATIO * shorter)


class LineTranslator:
    def __init__(self, folders: list[Path], device: str, recorded: bool = True) -> None:
        bundles = [Bundle.load(find_model(folder), device) for folder in folders]
        self.tokenizer = bundles[0].tokenizer
        if any(bundle.tokenizer.fingerprint != self.tokenizer.fingerprint for bundle in bundles):
            raise SystemExit("models that translate together must have one vocabulary")
        for bundle in bundles:
            bundle.model.eval()
        plain: Model = bundles[0].model if len(bundles) == 1 else Ensemble([bundle.model for bundle in bundles])
        self.model = for_search(plain) if recorded else plain
        self.costs = [FlopCounter(bundle.model) for bundle in bundles]

    def translate(self, lines: list[str], tag: str, beam: int, tally: Tally) -> list[tuple[str, str]]:
        """The lines that were translated well, as far as that can be seen, with their translations."""
        began = time.perf_counter()
        ids = self.tokenizer.encode_source(lines)
        kept = [i for i, one in enumerate(ids) if 0 < len(one) <= LONGEST]
        mark = self.tokenizer.tag_ids(tag)
        requests = [SearchRequest((*mark, *ids[i])) for i in kept]
        sampling = Sampling(top_k=TOP_K, seed=tally.lines) if beam == SAMPLE else None
        found = search(self.model, requests, SearchOptions(max(1, beam), ALPHA, sampling=sampling))
        pairs = []
        for i, request, best in zip(kept, requests, found, strict=True):
            found_ids = best[0].ids
            tally.tokens += len(found_ids) + 1
            steps = [len(found_ids) + 1] * max(1, beam)
            tally.flops += sum(cost.of_search(len(request.ids) + 1, steps) for cost in self.costs)
            if looks_right(len(ids[i]), len(found_ids), length_limit(request)):
                pairs.append((lines[i], self.tokenizer.decode(found_ids)))
        tally.lines += len(lines)
        tally.left_out += len(lines) - len(pairs)
        tally.seconds += time.perf_counter() - began
        return pairs


@dataclass
class LineProgress:
    """How far a text has come: how many of its lines are translated in its parts."""

    read: int = 0
    kept: int = 0
    sizes: tuple[int, ...] = (0, 0)  # bytes of the two parts

    @classmethod
    def of(cls, state: Path, parts: Sequence[Path]) -> LineProgress:
        """Nothing, where a part is not as long as it should be."""
        if not state.is_file():
            return cls()
        found = cls(**json.loads(state.read_text(encoding="utf-8")))
        there = [part.stat().st_size if part.is_file() else -1 for part in parts]
        return found if all(size >= wanted for size, wanted in zip(there, found.sizes, strict=True)) else cls()


class Job:
    """A text on its way."""

    def __init__(self, text: str, source: str, target: str, tag: str, beam: str, size: int) -> None:
        self.outs = [Path(source), Path(target)]
        self.parts, self.state = places_of(self.outs)
        self.tag, self.beam = tag, int(beam)
        self.kind = self.outs[0].name.partition(".")[0]
        self.done = all(out.is_file() for out in self.outs)
        self.progress = LineProgress.of(self.state, self.parts)
        self.chunks = chunks(Path(text), size, self.progress.read)
        if not self.done:
            cut_to(self.parts, self.progress.sizes)

    def go_on(self, translator: LineTranslator, tally: Tally) -> bool:
        """Translate the next chunk; if there is none, the text is done."""
        lines = next(self.chunks, None)
        if lines is None:
            self.finish()
            return False
        pairs = translator.translate(lines, self.tag, self.beam, tally)
        for side, part in enumerate(self.parts):
            with part.open("a", encoding="utf-8") as file:
                file.writelines(" ".join(pair[side].split()) + "\n" for pair in pairs)
        sizes = tuple(part.stat().st_size for part in self.parts)
        self.progress = LineProgress(self.progress.read + len(lines), self.progress.kept + len(pairs), sizes)
        text = json.dumps(asdict(self.progress))
        write_atomically(self.state, lambda path: path.write_text(text, encoding="utf-8"))
        speed = f"{tally.tokens / tally.seconds:,.0f} tokens/s"
        print(f"{self.outs[1].name}: {self.progress.kept:,} lines, {speed}", flush=True)
        return True

    def finish(self) -> None:
        if not self.done:
            publish(self.outs)
        self.done = True


def places_of(outs: Sequence[Path]) -> tuple[list[Path], Path]:
    """The parts of a text that is on its way, and the file that says how far it has come."""
    return [out.with_name(f"{out.name}.part") for out in outs], outs[1].with_name(f"{outs[1].name}.state")


def cut_to(parts: Sequence[Path], sizes: Sequence[int]) -> None:
    """Drop what a failure left of a chunk."""
    for part, size in zip(parts, sizes, strict=True):
        if part.is_file():
            os.truncate(part, size)


def publish(outs: Sequence[Path]) -> int:
    """Give the translations their names; returns the number of pairs."""
    parts, state = places_of(outs)
    progress = LineProgress.of(state, parts)
    cut_to(parts, progress.sizes)
    for part, out in zip(parts, outs, strict=True):
        if progress.kept:
            part.replace(out)
        else:
            part.unlink(missing_ok=True)
    state.unlink(missing_ok=True)
    return progress.kept


def translate(translator: LineTranslator, jobs: list[Job], until: float, tally: Tally) -> None:
    jobs = [job for job in jobs if not job.done]
    for kind in dict.fromkeys(job.kind for job in jobs):
        going = [job for job in jobs if job.kind == kind]
        while going and time.time() < until:
            going = [job for job in going if time.time() < until and job.go_on(translator, tally)]
        tally.finished &= time.time() < until
    for job in jobs:
        job.finish()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, action="append", required=True, help="several: an ensemble")
    words = ("FILE", "SRC", "TGT", "TAG", "BEAM")
    options.add_argument("--text", nargs=len(words), action="append", required=True, metavar=words)
    options.add_argument("--seconds", type=float, default=600.0, help="begin nothing more after this time")
    options.add_argument("--device", default="auto")
    options.add_argument("--plain", action="store_true", help="search on a GPU without recorded steps, more slowly")
    given = options.parse_args()
    until = time.time() + given.seconds
    device = pick_device(given.device)
    size = CHUNK.get(device.type, CHUNK["cpu"])
    jobs = [Job(*text, size) for text in given.text]
    tally = Tally()
    try:
        translate(LineTranslator(given.model, str(device), not given.plain), jobs, until, tally)
    except BaseException:
        tally.finished = False
        raise
    finally:
        print(json.dumps(asdict(tally)), flush=True)


if __name__ == "__main__":
    main()
