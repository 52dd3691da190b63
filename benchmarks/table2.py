"""Table 2 of the notes at one budget of training operations: every system trained, translated and scored.

    PYTHONPATH=src python benchmarks/table2.py --data DATA --out runs/table2 --plan
    PYTHONPATH=src python benchmarks/table2.py --data DATA --out runs/table2 --minutes 9.5
    PYTHONPATH=src python benchmarks/table2.py --data DATA --out runs/table2 --pairs en-fr --rates 0.5 2
    PYTHONPATH=src python benchmarks/table2.py --out runs/table2 --write docs/table2.md

DATA has the folders en-fr and en-de (train, dev and test, such as en-fr/train.en) and tests (newstest2014.fr.en,
newstest2014.fr.fr; .de. for German), compressed or not. Every text is encoded once, into OUT/cache.

Systems train side by side in processes of their own, `--jobs` at a time, in the order of table2_systems.ORDER: what
every row needs, for one pair and then for the next, before further seeds. After each one OUT/results.json is written
again; --write also keeps the figures beside the page, in PAGE's name with .json, and reads those that are there. When
the minutes are over, trainings save what they have and stop; the same command goes on with them. What each process
prints is in OUT/logs. With --plan nothing is trained: the estimated times are printed, with the measured speeds of
trainings that are already in OUT.

On a GPU the processes share it by CUDA's MPS if that is there (--no-mps: by turns). --tiny: everything with models of a
few thousand weights on a part of the text, in minutes on a CPU, to see that it works.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from table2_board import STOPPING, Board, jobs_of, keep, known_results, measured_speeds, prepared, shared_gpu
from table2_page import printed, write_page
from table2_plan import BESIDE, plan_table, sizes_table
from table2_setting import KINDS, Setting
from table2_systems import MEMBERS, MODELS, SCORES, SYSTEMS, entrant_of, run_of

from regard.course.compare.entrants import Entrant, NeuralSystem
from regard.course.compare.learn import learn_token_lexicon
from regard.course.compare.run import Comparison, check_recipes
from regard.data.compressed import COMPRESSED
from regard.data.corpus import PairFiles, read_pairs
from regard.data.epochs import encode_epoch
from regard.data.splits import find_splits
from regard.data.text_files import read_lines
from regard.metrics.bleu import Bleu
from regard.metrics.significance import bootstrap
from regard.search.options import BATCH_TOKENS
from regard.search.token_lexicon import LexiconConfig
from regard.training.evaluate import HeldOut
from regard.training.training_data import learn_tokenizer

PAIRS = ("en-fr", "en-de")
ALIGNED = 50_000  # pairs that the lexicon of PosUnk is learnt from: two minutes of one core
TINY = {"train": 1500, "dev": 20, "test": 20, "newstest2014": 20}  # lines
BUDGET = 2e15  # FLOPs
TINY_BUDGET = 5e9


# ------------------------------------------------------------------------------------------------ the text


def tests_of(setting: Setting) -> dict[str, HeldOut]:
    """newstest2014 and the test of Europarl."""
    found = {}
    for name, part in (("newstest2014", "newstest2014"), ("europarl", "test")):
        pairs = list(read_pairs(PairFiles(tuple(setting.files(part)))))
        found[name] = HeldOut([source for source, _ in pairs], [target for _, target in pairs])
    return found


def cut_text(setting: Setting, folder: Path) -> Path:
    """The first lines of all files of a pair, laid out as they are."""
    for part, count in TINY.items():
        for path in setting.files(part):
            made = folder / path.relative_to(setting.data)
            made = made.with_suffix("") if path.suffix in COMPRESSED else made
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text("".join(f"{line}\n" for line in islice(read_lines(path), count)), "utf-8")
    return folder


# ------------------------------------------------------------------------------------------------ one job


def prepare(setting: Setting, kind: str) -> None:
    """The vocabulary and the encoded text in the cache, for all trainings with such tokens."""
    began, data, console = time.monotonic(), setting.data_config(kind), Console()
    splits = find_splits(data)
    tokenizer = learn_tokenizer(data, setting.text_config(kind), splits, console)
    (corpus,) = encode_epoch(splits.train, tokenizer, data, 1, None)
    about = {"seconds": round(time.monotonic() - began, 1), "pairs": len(corpus), "target_tokens": len(corpus.tgt)}
    keep(prepared(setting, kind), about)


def align(setting: Setting) -> None:
    """The lexicon that replaces unknown words, where `regard.course.compare` looks for it."""
    run = run_of("deep-att", MEMBERS[0], setting)
    learn_token_lexicon(run.recipe.data, run.folder, setting.runs / "lexicon", LexiconConfig(pairs=ALIGNED))


def measure(setting: Setting, entrant: Entrant) -> None:
    """Train what is not trained yet, translate both tests at once, score each."""
    tests = tests_of(setting)
    together = HeldOut(
        [line for test in tests.values() for line in test.sources],
        [line for test in tests.values() for line in test.references],
    )
    check_recipes(entrant)
    (result,) = Comparison(together, lambda line: None, Console(), at_a_time(entrant)).run([entrant])
    metric, scores, at = Bleu(), dict[str, Any](), 0
    for name, test in tests.items():
        said, at = result.translations[at : at + len(test.sources)], at + len(test.sources)
        stats = metric.stats(said, test.references)
        score, range_ = bootstrap(metric, stats)
        scores[name] = {"score": score.score, "half": range_.half, "low": range_.low, "high": range_.high}
    assert isinstance(entrant.system, NeuralSystem)
    cost = result.cost
    row = {
        "pair": setting.pair,
        "budget": setting.budget,
        "system": entrant.name,
        "rate": setting.rate,
        "seed": entrant.seed,
        "members": len(entrant.system.members),
        "bleu": scores,
        "signature": metric.signature(1),
        "parameters": cost.parameters,
        "flops": cost.flops,
        "steps": cost.steps,
        "target_tokens": cost.target_tokens,
        "training_seconds": cost.seconds,
        "aligning_seconds": cost.aligning,
        "translating_seconds": result.translating,
        "peak_bytes": cost.peak_bytes,
        "learning_rate": result.learning_rate,
        "note": result.note,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "a CPU",
        "torch": torch.__version__,
    }
    keep(entrant.folder / SCORES, row)


def at_a_time(entrant: Entrant) -> int:
    """Source tokens in search. A step takes hardly longer with many; a Transformer's has a memory that bounds them."""
    model = MODELS[entrant.name.split("+")[0]]
    return BATCH_TOKENS if model.architecture == "transformer" else KINDS[model.kind].search


def do(setting: Setting, job: str) -> None:
    """What another process of this script was started for. SIGTERM lets a training save itself first."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    what, _, rest = job.partition(" ")
    try:
        if what == "prepare":
            prepare(setting, rest)
        elif what == "align":
            align(setting)
        else:
            measure(setting, entrant_of(what, int(rest) if rest else None, setting))
    except KeyboardInterrupt:
        sys.exit(130)


# ------------------------------------------------------------------------------------------------ the command


def print_plan(setting: Setting, jobs: int) -> None:
    table, total = plan_table(setting, measured_speeds(setting))
    print(f"{sizes_table().text()}\n\n{setting.pair}, {setting.budget:.3g} FLOPs a training\n{table.text()}")
    beside = min(jobs, BESIDE)
    print("\nspeeds with ? are estimates, of runs side by side; encoding a pair's text takes 1 to 2 minutes more")
    print(
        f"what is left takes {total / 60:.0f} minutes of one process, so {total / beside / 60:.0f} minutes of {beside}"
    )


def setting_of(given: argparse.Namespace, pair: str, rate: float) -> Setting:
    budget = given.budget or (TINY_BUDGET if given.tiny else BUDGET)
    whole = Setting(pair, budget, given.data, given.out, given.tiny, rate)
    if not given.tiny:
        return whole
    folder = given.out / "text"
    if not (folder / pair).exists() and not given.job:
        cut_text(whole, folder)
    return replace(whole, data=folder)


def read_command() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder with the text")
    parser.add_argument("--out", type=Path, required=True, help="the folder of runs, logs and results.json")
    parser.add_argument(
        "--pairs", nargs="+", choices=("en-fr", "en-de"), default=["en-fr", "en-de"], help="the first goes first"
    )
    names = [system.name for system in SYSTEMS]
    parser.add_argument("--systems", nargs="+", choices=names, default=[], metavar="SYSTEM", help=", ".join(names))
    rates = "times the rate of each model; but for 1: single models, one seed"
    parser.add_argument("--rates", nargs="+", type=float, default=[1.0], metavar="TIMES", help=rates)
    parser.add_argument("--budget", type=float, help=f"FLOPs of each training; default: {BUDGET:g}")
    parser.add_argument("--minutes", type=float, default=9.5, help="of this command, in all")
    parser.add_argument("--jobs", type=int, default=15, help="trainings at a time")
    parser.add_argument("--plan", action="store_true", help="print sizes and estimated times; train nothing")
    parser.add_argument("--tiny", action="store_true", help="a trial of everything, without meaning")
    parser.add_argument("--no-mps", action="store_true", help="let processes use the GPU by turns")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put table and pictures into a page; train nothing")
    parser.add_argument("--job", help=argparse.SUPPRESS)  # in another process of this script
    given = parser.parse_args()
    if given.budget is not None and not 0 < given.budget < float("inf"):
        parser.error(f"--budget must be above 0, but is {given.budget:g}; try {BUDGET:g}")
    if not all(0 < rate < float("inf") for rate in given.rates):
        parser.error(f"--rates must be above 0, but are {' '.join(f'{rate:g}' for rate in given.rates)}; try 0.5 2")
    if given.jobs < 1:
        parser.error(f"--jobs must be 1 or more, but is {given.jobs}")
    if given.data is None and not (given.write or given.plan):
        parser.error("--data is missing: the folder with en-fr, en-de and tests")
    given.data = given.data or Path()
    return given


def main() -> None:
    end, given = time.monotonic(), read_command()
    end += 60 * given.minutes - STOPPING
    if given.write:
        kept = given.write.with_suffix(".json")
        results = known_results(given.out, kept)
        keep(kept, results)
        write_page(given.write, results)
        return
    if given.job:
        do(setting_of(given, given.pairs[0], given.rates[0]), given.job)
        return
    if given.plan:
        for pair in given.pairs:
            print_plan(Setting(pair, given.budget or BUDGET, given.data, given.out), given.jobs)
        return
    settings = [setting_of(given, pair, rate) for pair in given.pairs for rate in given.rates]
    words = ["--out", str(given.out), "--data", str(given.data), "--budget", repr(settings[0].budget)]
    with shared_gpu(wanted=torch.cuda.is_available() and not given.no_mps):
        if not Board(
            jobs_of(settings, given.systems), [*words, *(["--tiny"] if given.tiny else [])], given.jobs, end
        ).go():
            print("not everything is done; the same command goes on with it", flush=True)
    print(printed(known_results(given.out)))


if __name__ == "__main__":
    main()
