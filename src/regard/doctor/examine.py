"""Examination of the data of a recipe before training: one pass over every file, then checks of a sample.

All lines are checked for their encoding and characters, for repetition, and for held-out sentences; the languages and
the alignment of pairs are judged on a sample of consecutive pairs. Only hashes and lengths of every pair are kept in
memory, some thirty bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from regard.data.config import DataConfig
from regard.data.corpus import PairFiles
from regard.data.splits import find_splits
from regard.doctor.findings import KINDS, SHOWN, FaultCounts, FaultExample, Finding, finding, share
from regard.doctor.languages import judge_languages, script_of_line
from regard.doctor.pairing import FARTHEST, Shift, judge_pairs
from regard.doctor.read_files import Chunk, Sample, check_characters, read_chunks
from regard.doctor.repeats import Hashes, Leaks, Repeats, plain_hashes, side_hashes

LONG = 1000  # characters
UNEQUAL = 40  # minimum characters of the longer side for an informative ratio
LEAKED, LEAKED_SIDE = 0.01, 0.1  # shares of a held-out set that make a leak serious
LINE_FAULTS = ("encoding", "bom", "line ends", "control", "invisible", "replaced", "mojibake", "html", "normal form")
STOPS = ("encoding", "columns", "unequal")  # faults that training refuses


@dataclass
class CorpusScan:
    """The results of one pass over a corpus."""

    part: str  # train, dev, test
    files: PairFiles
    sample: Sample
    tally: FaultCounts = field(default_factory=FaultCounts)
    repeats: Repeats = field(default_factory=Repeats)
    lengths: list[NDArray[np.int32]] = field(default_factory=list)  # (pairs, 2), in characters
    characters: set[str] = field(default_factory=set)

    @property
    def pairs(self) -> int:
        return self.sample.seen

    def add(self, chunk: Chunk, hashes: dict[str, Hashes]) -> None:
        self.sample.add(chunk)
        self.repeats.add(hashes)
        sides = (chunk.sources, chunk.targets)
        for side, texts in enumerate(sides):
            check_characters(texts, partial(chunk.place, side), self.tally)
            self.characters.update("".join(texts))
        lengths = np.array([[len(text) for text in texts] for texts in sides], dtype=np.int32).T
        self.lengths.append(lengths)
        for at, (src, tgt) in enumerate(zip(*sides, strict=True)):
            if not src or not tgt or src.isspace() or tgt.isspace():
                self.tally.add("empty", partial(chunk.place, int(bool(src.strip())), at))
            elif src == tgt:
                self.tally.add("copies", partial(chunk.place, 0, at))
        for at in np.flatnonzero(lengths.max(axis=1) > LONG).tolist():
            self.tally.add("too long", partial(chunk.place, int(lengths[at].argmax()), at))


@dataclass(frozen=True)
class Examination:
    findings: tuple[Finding, ...]
    pairs: dict[str, int]  # number of pairs of train, dev and test
    sampled: int  # number of sampled pairs of train

    @property
    def stops(self) -> bool:
        """Whether training would refuse the data."""
        return any(found.name in STOPS for found in self.findings)


def examine(data: DataConfig, sample: int, progress: Callable[[int, str], None] = lambda *_: None) -> Examination:
    """Examines the data; `progress` is called with the number of pairs so far and the current step."""
    has_dev = data.dev_src or data.dev_pairs
    splits = find_splits(data if has_dev else replace(data, dev_size=0))  # nothing is held out yet
    held = {name: files for name, files in (("dev", splits.dev), ("test", splits.test)) if files}
    scans = {name: scan_files(name, files, sample, progress) for name, files in held.items()}
    leaks = {name: Leaks.of(held_out.sample.pairs()) for name, held_out in scans.items()}  # these samples are complete
    corpora = [scan_files("train", one.files, sample, progress, [*leaks.values()]) for one in splits.train]
    findings = [found for corpus in (*corpora, *scans.values()) for found in line_findings(corpus, data.max_ratio)]
    findings += [found for name in leaks for found in leak_findings(name, leaks[name], scans[name])]
    findings += shared_findings(leaks, scans)
    known = set().union(*(corpus.characters for corpus in corpora))
    findings += [found for held_out in scans.values() for found in unseen_findings(held_out, known)]
    for number, corpus in enumerate(corpora):  # held-out sets are judged by a model of the first corpus
        beside = list(scans.values()) if number == 0 else []
        parts = [(scan.part, scan.sample) for scan in (corpus, *beside)]
        show = partial(progress, 0)
        findings += [*language_findings(parts, show), *script_findings(parts), *pairing_findings(parts, show)]
    counts = {"train": sum(c.pairs for c in corpora)} | {name: found.pairs for name, found in scans.items()}
    findings.sort(key=lambda found: not found.serious)
    return Examination(tuple(findings), counts, sum(len(c.sample) for c in corpora))


def scan_files(
    part: str, files: PairFiles, most: int, progress: Callable[[int, str], None], leaks: Sequence[Leaks] = ()
) -> CorpusScan:
    scan = CorpusScan(part, files, Sample(most if part == "train" else 1 << 60))
    for chunk in read_chunks(files, scan.tally):
        exact = side_hashes(chunk.sources, chunk.targets)
        scan.add(chunk, exact)
        if leaks:
            plain = plain_hashes(chunk.sources, chunk.targets)
            for held_out in leaks:
                held_out.search(exact, plain, chunk.place)
        progress(scan.pairs, f"reading {part}")
    return scan


# ------------------------------------------------------------------------------------------------ findings


def line_findings(scan: CorpusScan, max_ratio: float) -> list[Finding]:
    """Returns the findings of the pass over all lines."""
    part, tally, found = scan.part, scan.tally, []
    for (src, tgt), (first, second) in tally.unequal:
        message = f"{src.name} has {first:,} lines but {tgt.name} has {second:,}; training refuses them"
        remedy = "find where a line is missing (a shift below says), or take both files again from where they came"
        found.append(Finding("unequal", part, True, message, remedy, abs(first - second), max(first, second)))
    skipped = tally.counts["encoding"] + tally.counts["columns"]
    for name, count in tally.counts.items():
        of, noun = (2 * scan.pairs + skipped, "lines") if name in LINE_FAULTS else (scan.pairs + skipped, "pairs")
        found.append(finding(name, part, count, of, noun, tally.places[name]))
    if not scan.pairs:
        return found
    if part == "train":
        found += repeat_findings(scan)
    return found + ratio_findings(scan, max_ratio)


def repeat_findings(scan: CorpusScan) -> list[Finding]:
    found, pairs = [], scan.sample.pairs()
    for name, (count, hashes), keys in (
        ("duplicates", scan.repeats.repeated(), pairs),
        ("many targets", scan.repeats.many_targets(), [src for src, _ in pairs]),
    ):
        if count:
            known = set(hashes.tolist())
            repeated: dict[object, list[int]] = {}
            for i, key in enumerate(keys):
                if hash(key) in known:
                    repeated.setdefault(key, []).append(i)
            places = [scan.sample.place(0, i) for i in islice(chain.from_iterable(repeated.values()), SHOWN)]
            found.append(finding(name, scan.part, count, scan.pairs, "pairs", places))
    return found


def ratio_findings(scan: CorpusScan, max_ratio: float) -> list[Finding]:
    """Finds pairs whose ratio of characters is at least `max_ratio` times the usual one."""
    lengths = np.concatenate(scan.lengths).astype(np.float64)
    filled = lengths[lengths.min(axis=1) > 0]
    usual = float(np.median(np.log(filled[:, 1] / filled[:, 0]))) if len(filled) else 0.0

    def is_odd(lengths: NDArray[np.float64]) -> NDArray[np.bool_]:
        ratios = np.log(np.maximum(lengths[:, 1], 1) / np.maximum(lengths[:, 0], 1))
        judged = (lengths.min(axis=1) > 0) & (lengths.max(axis=1) >= UNEQUAL)
        odd: NDArray[np.bool_] = judged & (np.abs(ratios - usual) > np.log(max(max_ratio, 1.5)))
        return odd

    count = int(is_odd(lengths).sum())
    sampled = np.array([[len(src), len(tgt)] for src, tgt in scan.sample.pairs()], dtype=np.float64)
    places = [scan.sample.place(int(sampled[i].argmin()), i) for i in np.flatnonzero(is_odd(sampled))[:SHOWN].tolist()]
    return [finding("ratio", scan.part, count, scan.pairs, "pairs", places)] if count else []


def leak_findings(name: str, leaks: Leaks, scan: CorpusScan) -> list[Finding]:
    """Finds whole pairs of a held-out set in train, and single sides."""
    count = {side: len(leaks.plain[side].lines()) for side in leaks.plain}
    exact = {side: len(leaks.exact[side].lines()) for side in leaks.exact}
    size, found = scan.pairs, []
    remedy = f"take these sentences out of train (or out of {name}): a score on them measures memorization"
    if count["pair"]:
        message = (
            f"{count['pair']:,} of {size:,} pairs ({share(count['pair'], size)}) are in train apart from case, "
            f"punctuation and spacing; {exact['pair']:,} of them letter by letter"
        )
        places = leak_places(leaks, scan, "pair", 0)
        serious = count["pair"] >= LEAKED * size
        found.append(Finding("leak", name, serious, message, remedy, count["pair"], size, places))
    alone = {
        side: len(set(leaks.plain[side].lines()) - set(leaks.plain["pair"].lines())) for side in ("source", "target")
    }
    if any(alone.values()):
        message = (
            f"{alone['source']:,} further sources ({share(alone['source'], size)}) and {alone['target']:,} targets "
            f"({share(alone['target'], size)}) are in train with another partner"
        )
        serious, side = max(alone.values()) >= LEAKED_SIDE * size, "source" if alone["source"] else "target"
        places = leak_places(leaks, scan, side, int(side == "target"))
        found.append(Finding("leak of a side", name, serious, message, remedy, max(alone.values()), size, places))
    return found


def leak_places(leaks: Leaks, scan: CorpusScan, side: str, shown: int) -> tuple[FaultExample, ...]:
    whole = set(leaks.plain["pair"].lines()) if side != "pair" else set()
    places = []
    for line in [line for line in leaks.plain[side].lines() if line not in whole][:3]:
        there, here = leaks.plain[side].found[int(leaks.plain[side].hashes[line])], scan.sample.place(shown, line)
        places.append(FaultExample(f"{here.where} = {there.where}", here.text))
    return tuple(places)


def shared_findings(leaks: dict[str, Leaks], scans: dict[str, CorpusScan]) -> list[Finding]:
    """Finds pairs that dev and test share."""
    if len(leaks) < 2:
        return []
    dev = set(leaks["dev"].plain["source"].hashes.tolist()) - {0}
    shared = [line for line, number in enumerate(leaks["test"].plain["source"].hashes.tolist()) if number in dev]
    if not shared:
        return []
    size = scans["test"].pairs
    count = f"{len(shared):,} of {size:,} sources ({share(len(shared), size)})"
    message = f"{count} are also in dev, which is used to choose the best model"
    places = tuple(scans["test"].sample.place(0, line) for line in shared[:3])
    serious = len(shared) >= LEAKED_SIDE * size
    return [Finding("shared", "test", serious, message, "take them out of dev", len(shared), size, places)]


def unseen_findings(scan: CorpusScan, known: set[str]) -> list[Finding]:
    """Finds lines of a held-out set with characters that train does not have."""
    new = {c for c in scan.characters - known if not c.isspace()}
    if not new:
        return []
    lines = [
        (side, at) for at, pair in enumerate(scan.sample.pairs()) for side in (0, 1) if new.intersection(pair[side])
    ]
    places = [scan.sample.place(side, at) for side, at in lines[:3]]
    return [finding("unseen characters", scan.part, len(lines), 2 * scan.pairs, "lines", places)]


Parts = Sequence[tuple[str, Sample]]  # train first, then the held-out sets
SHIFT_REMEDY = (
    "a line is missing or was put in where the shift begins: look there, correct one file, and check again "
    "(a second fault may undo the shift later)"
)
SIDES = ("source", "target")
ENOUGH = 1000  # minimum pairs to learn word translations from


def language_findings(parts: Parts, progress: Callable[[str], None]) -> list[Finding]:
    progress("learning the language of each side")
    found = judge_languages([pair for _, sample in parts for pair in sample.pairs()])
    swapped = found.swapped()
    faults: dict[str, dict[int, int]] = {}  # name → place in all samples → side to show
    if found.apart:
        faults["swapped"] = dict.fromkeys(swapped, 0)
        for side, fit in enumerate((found.source, found.target)):
            there = [at for at in np.flatnonzero(fit.fits_other).tolist() if at not in swapped]
            faults[f"untranslated {SIDES[side]}"] = dict.fromkeys(there, side)
    unlike = {at: side for side, fit in enumerate((found.source, found.target)) for at in np.flatnonzero(fit.unlike())}
    known = {at for places in faults.values() for at in places}
    faults["unlike"] = {int(at): side for at, side in sorted(unlike.items()) if at not in known}
    return by_part(parts, faults)


def script_findings(parts: Parts) -> list[Finding]:
    """Finds lines whose letters are not in the script of most lines of their side in train."""
    pairs = [pair for _, sample in parts for pair in sample.pairs()]
    wrong: dict[int, int] = {}
    for side in (0, 1):
        scripts = [script_of_line(pair[side]) for pair in pairs]
        counts = Counter(script for script in scripts if script)
        if counts:
            usual = counts.most_common(1)[0][0]
            wrong |= {at: side for at, script in enumerate(scripts) if script not in (usual, None)}
    return by_part(parts, {"script": dict(sorted(wrong.items()))})


def pairing_findings(parts: Parts, progress: Callable[[str], None]) -> list[Finding]:
    found = judge_pairs([run for _, sample in parts for run in sample.runs()], progress)
    if found is None:
        return []
    if not found.together:
        return unrelated_findings(parts)
    faults = {"misaligned": dict.fromkeys(found.misaligned(), 0)}
    return [*shift_findings(parts, found.shifts), *by_part(parts, faults)]


def unrelated_findings(parts: Parts) -> list[Finding]:
    name, sample = parts[0]
    message = f"the words of the two sides do not go together, neither line by line nor up to {FARTHEST} lines off"
    remedy = "check that both files are of one text in one order; fewer than some thousand pairs may teach too little"
    serious = len(sample) >= ENOUGH
    return [Finding("unrelated", name, serious, message, remedy, len(sample), len(sample), (sample.place(0, 0),))]


def shift_findings(parts: Parts, shifts: Sequence[Shift]) -> list[Finding]:
    findings, start = [], 0
    for name, sample in parts:
        end = start + len(sample)
        own = [shift for shift in shifts if start <= shift.first < end]
        if own:
            places, count = [], sum(shift.last - shift.first + 1 for shift in own)
            for shift in own[:3]:
                begins, ends = (sample.place(0, at - start) for at in (shift.first, min(shift.last, end - 1)))
                where = f"{begins.where} to {ends.where.rpartition(':')[2]}"
                places.append(FaultExample(where, f"translates target line {shift.offset:+d}: {begins.text}"))
            message = f"about {count:,} of {len(sample):,} sampled pairs have a shifted target"
            findings.append(Finding("shifted", name, True, message, SHIFT_REMEDY, count, len(sample), tuple(places)))
        start = end
    return findings


def by_part(parts: Parts, faults: dict[str, dict[int, int]]) -> list[Finding]:
    """Returns the findings of each part, from indices into all samples concatenated."""
    findings, start = [], 0
    for name, sample in parts:
        for fault, where in faults.items():
            own = [(at - start, side) for at, side in where.items() if start <= at < start + len(sample)]
            if own and len(own) >= KINDS[fault].reported_from * len(sample):
                places = [sample.place(side, at) for at, side in own[:3]]
                findings.append(finding(fault, name, len(own), len(sample), "pairs", places, sample.seen))
        start += len(sample)
    return findings
