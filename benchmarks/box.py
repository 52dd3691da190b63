"""The bundled models on every test set, compared with other systems: scores of the cards and of docs/bundled-models.md.

python benchmarks/box.py --tests DATA                   all directions of the box; fetches Tatoeba where it is not there
python benchmarks/box.py --tests DATA --speed --write --docs docs/bundled-models.md      into the cards and the page
python benchmarks/box.py --only notes "grammar test"    some of the test sets; these need no data
python benchmarks/box.py --model RUN --all-directions --engine native --device cuda --tests DATA --limit 500
                                                        a run in training, in all directions by its tags <en> <fr> …
python benchmarks/box.py --model RUN --direction de-en --tag "<en>" --dev --tests DATA     on the sets to choose by

DATA is a folder as recipes/box makes it, or one with general-tests, newstest2014 and europarl; `general/sets.py` has
the names of the files. Outputs of other translators are looked for in its peers or general-tests/peers.

A model is measured by the native engine in float32 and by CTranslate2 in 8 bits, and the card holds both. Exit
code 1 says that card and measurement differ, or that one of them lacks a figure of the other. Tatoeba grows from day to
day, and figures are of one state of it: the card holds a fingerprint of each test set, and a set that differs from it
is said to be another.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from general import cards, goals, page, sets
from general.measure import Candidate, Record, beside, measure, measure_pronouns, tag_for
from general.peers import peer_outputs, peers_folder
from general.speed import WAYS, SpeedText, latency, rates, size

from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.bundled_models import directions
from regard.bundle.folder import find_bundle, read_json
from regard.errors import InputError, RegardError
from regard.files import write_atomically
from regard.translator import Translator

SPEED_SETS = ("flores-devtest", "tatoeba v2021-08-07")  # long sentences with names and numbers, and everyday ones


class Job(NamedTuple):
    """One direction to measure; without a folder only what others said is scored."""

    direction: str
    folder: Path | None
    tag: str | None = None
    optional: bool = False  # left out where the model does not have the direction


class Given(argparse.Namespace):
    model: list[Path]
    direction: list[str]
    tests: list[Path]
    tatoeba: Path | None
    peers: Path | None
    beside: Path | None
    results: Path | None
    docs: Path | None
    only: list[str] | None
    tag: str | None
    limit: int | None
    samples: int | None
    engine: str
    device: str
    all_directions: bool
    dev: bool
    write: bool
    speed: bool


def parse(words: Sequence[str] | None = None) -> Given:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add(
        "--model",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        help="bundles or runs; default: all directions of the box",
    )
    add("--direction", action="append", default=[], choices=sets.DIRECTIONS, help="default: what the card says")
    add("--all-directions", action="store_true", help="all six, of a model that has a tag for each language")
    add("--tag", help="what to put before every source; default: <fr> for French where the model has such tags")
    add("--tests", type=Path, action="append", default=[], metavar="FOLDER", help="where test sets are; repeatable")
    add("--tatoeba", type=Path, help="Tatoeba's pairs, a table or a folder of regard fetch; default: fetched")
    add("--peers", type=Path, metavar="FOLDER", help="what other translators said; default: in --tests")
    known = (*sets.NAMES, *sets.TO_CHOOSE_BY)
    add("--only", nargs="+", choices=sorted(set(known)), metavar="NAME", help=", ".join(dict.fromkeys(known)))
    add("--dev", action="store_true", help=f"the sets to choose by instead: {', '.join(sets.TO_CHOOSE_BY)}")
    add("--limit", type=int, metavar="N", help="lines of each set, for a quick look")
    add("--samples", type=int, metavar="N", help="of the paired tests  [default: 10,000]")
    add("--engine", choices=("native", "ctranslate2", "both"), default="both", help="[default: both]")
    add("--device", default="cpu", help="of the native engine  [default: cpu]")
    add("--speed", action="store_true", help="sentences/s and latency on the CPU; a minute or more each")
    add("--beside", type=Path, metavar="FOLDER", help="with --speed: a model to take turns with, such as en-fr-classic")
    add("--results", type=Path, metavar="FILE", help="a .json that keeps all figures; what it holds already is kept")
    add("--write", action="store_true", help="put the figures into the card")
    add("--docs", type=Path, metavar="PAGE", help="put the table into this page")
    given = parser.parse_args(words, namespace=Given())
    if given.limit is not None and (given.limit < 1 or given.write or given.docs):
        parser.error("--limit must be 1 or more, and is for a quick look: not with --write or --docs")
    if given.all_directions and (len(given.model) != 1 or given.direction or given.tag):
        parser.error("--all-directions takes one --model, and neither --direction nor --tag")
    if (given.direction or given.tag) and len(given.model) != 1:
        parser.error("--direction and --tag are of one --model")
    if given.beside and not given.speed:
        parser.error("--beside is of --speed; give both")
    return given


def main(words: Sequence[str] | None = None) -> int:
    given = parse(words)
    try:
        for folder in (*given.tests, *([given.peers] if given.peers else [])):
            if not folder.is_dir():
                raise InputError(f"{folder} is not a folder")
        results: dict[str, Any] = read_json(given.results) if given.results and given.results.is_file() else {}
        agree = [run(job, given, results) for job in jobs(given)]
        save(given.results, results)
        if given.docs:
            page.write_page(given.docs, results)
        print(page.markdown(results))
        files = [] if given.model else [path for folder in translators() for path in folder.iterdir()]
        whole = sum(len(zlib.compress(path.read_bytes())) for path in files) or None
        print("", *goals.judged(results, whole), sep="\n")
    except RegardError as problem:
        print(f"benchmarks/box.py: {problem}", file=sys.stderr)
        return 2
    return 0 if all(agree) else 1


def jobs(given: Given) -> list[Job]:
    """What to measure, direction by direction."""
    if given.all_directions:
        return [Job(direction, find_bundle(given.model[0]), None, True) for direction in sets.DIRECTIONS]
    folders = [find_bundle(model) for model in given.model] or translators()
    if not folders:
        raise InputError("the box is empty; name a model: --model FOLDER")
    found = [
        Job(direction, folder, given.tag)
        for folder in folders
        for direction in given.direction or [direction_of(folder)]
    ]
    missing = [name for name in sets.DIRECTIONS if name not in {job.direction for job in found}]
    return found + [Job(name, None) for name in missing if not given.model]


def translators() -> list[Path]:
    """Those of the box that --to chooses from."""
    return [bundled_models.folder_of(str(one)) for one in directions()]


def direction_of(folder: Path) -> str:
    source, target = Bundle.read(folder).languages
    direction = f"{source}-{target}"
    if direction not in sets.DIRECTIONS:
        allowed = ", ".join(sets.DIRECTIONS)
        raise InputError(f"{folder} does not say which of {allowed} it is, but {direction}; name it: --direction en-fr")
    return direction


def run(job: Job, given: Given, results: dict[str, Any]) -> bool:
    """Measure one direction, print it, add it to the results; does its card agree?"""
    candidate = load(job, given)
    if candidate is None and job.folder is not None:
        return True
    names = given.only or list(sets.TO_CHOOSE_BY if given.dev else sets.wanted_names(job.direction))
    found = results.setdefault(row_of(job, given), {})
    if job.folder is not None:
        about = size(job.folder)
        if found.get("weights_checksum") != about["weights_checksum"]:
            found.clear()  # figures of other weights
        found |= {"model": job.folder.name} | about
    for part in ("tests", "peers", "lines"):
        found.setdefault(part, {})
    measured: dict[str, Any] = {}
    if candidate is not None and "pronoun pairs" in names:
        measured["pronoun pairs"] = measure_pronouns(candidate, given.limit)
        keep(found, "pronoun pairs", measured["pronoun pairs"])
    for test in tests_of(job, given, names):
        said = None
        found["lines"][test.name] = len(test.cut(given.limit).sources)
        if candidate is not None:
            measured[test.name], said = timed(candidate, test.cut(given.limit))
            keep(found, test.name, measured[test.name])
        if candidate is None or candidate.native is not None or test.name not in found["peers"]:
            found["peers"] |= others_on(job.direction, test, said, given)
        save(given.results, results)  # sets take minutes each
    if candidate is None:
        return True
    assert job.folder is not None
    if given.speed:
        found["speed"] = how_fast(job, given, candidate)
    if given.write:
        cards.write(job.folder, measured)
    return judged_by_card(job, given, measured, names)


def keep(found: Record, name: str, record: Record) -> None:
    """A set's figures among those of the direction. The two engines may be measured in two runs."""
    before = found["tests"].get(name, {})
    same = before.get("fingerprint") == record["fingerprint"]
    found["tests"][name] = before | record if same else record
    found["lines"][name] = record["sentences"]


def save(place: Path | None, results: Record) -> None:
    if place is not None:
        text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
        write_atomically(place, lambda path: path.write_text(text, encoding="utf-8"))


def row_of(job: Job, given: Given) -> str:
    """Under which name the figures are kept: a second model of a direction in the box does not replace the first."""
    if job.folder is None or given.model or job.folder.name == job.direction:
        return job.direction
    return job.folder.name


def others_on(direction: str, test: sets.TestSet, said: list[str] | None, given: Given) -> Record:
    """What other translators' outputs for this set score, beside ours."""
    folder = given.peers or peers_folder(given.tests)
    outputs, remark = peer_outputs(folder, direction, test.name, test.references)
    if remark:
        print(f"  peers on {direction} {test.name}: {remark}")
    return {test.name: beside(test.cut(given.limit), outputs, said, given.samples)} if outputs else {}


def judged_by_card(job: Job, given: Given, measured: Record, names: Sequence[str]) -> bool:
    """Only a whole set of a model whose card speaks of this direction can be compared with the card."""
    assert job.folder is not None
    if given.limit is not None or given.dev or given.all_directions or given.direction or given.tag:
        return True
    return cards.agrees(job.folder, measured, names, (*sets.NAMES, *sets.TO_CHOOSE_BY))


@lru_cache(maxsize=3)
def loaded(folder: Path, device: str, engine: str) -> Translator:
    """Once for all directions of a model."""
    return Translator.load(folder, device, engine)


def load(job: Job, given: Given) -> Candidate | None:
    if job.folder is None:
        return None
    native = loaded(job.folder, given.device, "native") if given.engine != "ctranslate2" else None
    converted = loaded(job.folder, "cpu", "ctranslate2") if given.engine != "native" else None
    either = native or converted
    assert either is not None
    try:
        tag = job.tag or tag_for(either, job.direction)
    except InputError as problem:
        if not job.optional:
            raise
        print(f"{job.direction}: left out, {problem}")
        return None
    name = job.folder.parent.name if job.folder.name in ("best", "last") else job.folder.name
    print(f"{name}, {job.direction}, {either.bundle.weights}, tag {tag or either.bundle.tag or 'none'}", flush=True)
    return Candidate(job.direction, native, converted, tag)


def tests_of(job: Job, given: Given, names: Sequence[str]) -> list[sets.TestSet]:
    found = list(sets.find_sets(job.direction, given.tests, names))
    if job.folder is not None and set(job.direction.split("-")) == {"en", "fr"}:
        quick = given.all_directions or given.limit is not None  # nothing is fetched for a quick look
        needed = {"tatoeba dev", "tatoeba test"} & set(names)
        place = given.tatoeba or (sets.tatoeba_place(given.tests, fetch=not quick) if needed else None)
        found = [*sets.own_sets(job.direction, names, place), *found]
    return found


def timed(candidate: Candidate, test: sets.TestSet) -> tuple[Record, list[str]]:
    began = time.perf_counter()
    record, said = measure(candidate, test)
    shown = [
        f"{'in 8 bits ' if way != 'metrics' else ''}{one['name']} {one['score']:.2f}"
        for way in ("metrics", "ctranslate2")
        for one in record.get(way, ())
    ]
    shown += [f"{record['exact']} exact"] if "exact" in record else []
    spent = time.perf_counter() - began
    print(f"  {test.name}: {len(said):,} sentences, {', '.join(shown)}  ({spent:.0f} s)", flush=True)
    return record, said


def how_fast(job: Job, given: Given, candidate: Candidate) -> Record:
    """On FLORES and Tatoeba where they are there, else, for English and French, on the embedded grammar."""
    source, target = sets.languages_of(job.direction)
    found = [*sets.find_sets(job.direction, given.tests, SPEED_SETS)]
    if not found and {source, target} == {"en", "fr"}:
        found = [*sets.own_sets(job.direction, ["grammar test"])]
    if not found:
        raise InputError(
            f"the speed of {job.direction} is measured on FLORES, which is in none of the folders of --tests"
        )
    both = {test.name: {source: test.sources, target: test.references} for test in found}
    texts = {name: SpeedText(sides[source], sides["en"]) for name, sides in both.items()}
    assert job.folder is not None
    ours = Candidate(job.direction, None, loaded(job.folder, "cpu", "ctranslate2"), candidate.tag)
    other = loaded(find_bundle(given.beside), "cpu", "ctranslate2") if given.beside else None
    beside = Candidate("en-fr", None, other) if other else None
    measured: Record = {"latency": {}}
    for name, text in texts.items():
        measured["latency"][name] = latency(ours, text, beside)
        for way in WAYS:
            one = measured["latency"][name][way]
            times = f", {one['ratio']:.2f} times the other's {one['beside_median_ms']:.0f}" if "ratio" in one else ""
            shown = f"median {one['median_ms']:.0f} ms{times}; mean {one['mean_ms']:.0f}"
            print(f"  {name}, one sentence, {way}: {shown}", flush=True)
    return measured | rates(ours, next(iter(texts.values())), beside)


if __name__ == "__main__":
    sys.exit(main())
