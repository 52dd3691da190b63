"""Checks of a sample, as findings: languages, scripts, and whether the lines of a pair belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from regard.doctor.findings import KINDS, FaultExample, Finding, finding
from regard.doctor.languages import judge_languages, script_of_line
from regard.doctor.pairing import FARTHEST, Shift, judge_pairs
from regard.doctor.sample import Sample

Parts = Sequence[tuple[str, Sample]]  # train first, then the held-out sets
SHIFT_REMEDY = (
    "a line is missing or was put in where the shift begins: look there, correct one file, and check again "
    "(a second fault may undo the shift later)"
)
SIDES = ("source", "target")
ENOUGH = 1000  # pairs from which word translations can be learnt


def check_sample(parts: Parts, progress: Callable[[str], None]) -> list[Finding]:
    return [*language_findings(parts, progress), *script_findings(parts), *pairing_findings(parts, progress)]


def language_findings(parts: Parts, progress: Callable[[str], None]) -> list[Finding]:
    progress("learning what each side is written in")
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
    """Lines whose letters are not of the script that most lines of their side in train have."""
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
    said = f"the words of the two sides do not go together, neither line by line nor up to {FARTHEST} lines off"
    remedy = "check that both files are of one text in one order; fewer than some thousand pairs may teach too little"
    serious = len(sample) >= ENOUGH
    return [Finding("unrelated", name, serious, said, remedy, len(sample), len(sample), (sample.place(0, 0),))]


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
            said = f"about {count:,} of {len(sample):,} pairs looked at have their target some lines off"
            findings.append(Finding("shifted", name, True, said, SHIFT_REMEDY, count, len(sample), tuple(places)))
        start = end
    return findings


def by_part(parts: Parts, faults: dict[str, dict[int, int]]) -> list[Finding]:
    """Findings of each part, from places that count through all samples."""
    findings, start = [], 0
    for name, sample in parts:
        for fault, where in faults.items():
            own = [(at - start, side) for at, side in where.items() if start <= at < start + len(sample)]
            if own and len(own) >= KINDS[fault].reported_from * len(sample):
                places = [sample.place(side, at) for at, side in own[:3]]
                findings.append(finding(fault, name, len(own), len(sample), "pairs", places, sample.seen))
        start += len(sample)
    return findings
