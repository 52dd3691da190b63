"""Table 2 of the notes at one budget of training operations: every system trained, translated and scored.

    PYTHONPATH=src python benchmarks/table2.py --data DATA --out runs/table2 --plan
    PYTHONPATH=src python benchmarks/table2.py --data DATA --out runs/table2 --minutes 9.5
    PYTHONPATH=src python benchmarks/table2.py --out runs/table2 --write docs/table2.md

DATA has the folders en-fr and en-de (train, dev and test, such as en-fr/train.en) and tests (newstest2014.fr.en,
newstest2014.fr.fr; .de. for German), compressed or not. Every text is encoded once, into OUT/cache.

Systems train side by side in processes of their own, `--jobs` at a time, in the order of table2_systems.ORDER. After
each one OUT/results.json is written again. When the minutes are over, trainings save what they have and stop; the same
command goes on with them. What each process prints is in OUT/logs. With --plan nothing is trained: the estimated times
are printed, with the measured speeds of trainings that are already in OUT.

On a GPU the processes share it by CUDA's MPS if that is there (--no-mps: by turns). --tiny: everything with models of a
few thousand weights on a part of the text, in minutes on a CPU, to see that it works.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from table2_page import BESIDE, plan_table, printed, sizes_table, write_page
from table2_systems import KINDS, MEMBERS, MODELS, SCORES, Setting, entrant_of, entrants, folder_of, run_of

from regard.compare.entrants import Entrant, NeuralSystem
from regard.compare.learn import LEARNT, learn_lexicon_of
from regard.compare.run import Comparison, check_recipes
from regard.data.compressed import COMPRESSED
from regard.data.corpus import PairFiles, read_pairs
from regard.data.epochs import encode_epoch
from regard.data.splits import find_splits
from regard.data.text_files import read_lines
from regard.decode.token_lexicon import LexiconConfig
from regard.files import write_atomically
from regard.metrics.bleu import Bleu
from regard.metrics.significance import bootstrap
from regard.training.evaluate import HeldOut
from regard.training.material import learn_text

RESULTS = "results.json"
ALIGNED = 50_000  # pairs that the lexicon of PosUnk is learnt from: two minutes of one core
STOPPING = 40  # seconds before the end at which trainings are told to save and stop
LATEST = 45  # seconds before that at which nothing new begins
TINY = {"train": 1500, "dev": 20, "test": 20, "newstest2014": 20}  # lines
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
    tokenizer = learn_text(data, setting.text_config(kind), splits, console)
    (corpus,) = encode_epoch(splits.train, tokenizer, data, 1, None)
    about = {"seconds": round(time.monotonic() - began, 1), "pairs": len(corpus), "target_tokens": len(corpus.tgt)}
    keep(prepared(setting, kind), about)


def prepared(setting: Setting, kind: str) -> Path:
    return setting.out / setting.pair / f"prepared-{kind}.json"


def keep(path: Path, found: Any) -> None:
    text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda place: place.write_text(text, encoding="utf-8"))


def align(setting: Setting) -> None:
    """The lexicon that replaces unknown words, where `regard.compare` looks for it."""
    run = run_of("deep-att", MEMBERS[0], setting)
    learn_lexicon_of(run.recipe.data, run.folder, setting.runs / "lexicon", LexiconConfig(pairs=ALIGNED))


def measure(setting: Setting, entrant: Entrant) -> None:
    """Train what is not trained yet, translate both tests at once, score each."""
    tests = tests_of(setting)
    together = HeldOut(
        [line for test in tests.values() for line in test.sources],
        [line for test in tests.values() for line in test.references],
    )
    check_recipes(entrant)
    (result,) = Comparison(together, lambda line: None, Console()).run([entrant])
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


# ------------------------------------------------------------------------------------------------ all jobs


@dataclass(frozen=True)
class Job:
    name: str  # what `do` is given
    makes: Path  # there when it is done
    needs: tuple[Path, ...] = ()  # what others make first
    text: Path | None = None  # the same for its text; its place on the GPU is kept free meanwhile

    @property
    def done(self) -> bool:
        return self.makes.exists()

    @property
    def has_text(self) -> bool:
        return self.text is None or self.text.exists()

    @property
    def ready(self) -> bool:
        return all(path.exists() for path in self.needs)

    @property
    def on_gpu(self) -> bool:
        return self.text is not None


def jobs_of(setting: Setting) -> list[Job]:
    """In the order in which they begin, where nothing keeps them waiting."""
    lexicon, first = setting.runs / "lexicon" / LEARNT, run_of("deep-att", MEMBERS[0], setting).folder
    jobs = [Job(f"prepare {kind}", prepared(setting, kind)) for kind in KINDS]
    jobs.append(Job("align", lexicon, (first / "tokenizer.json",)))
    for entrant in entrants(setting):
        assert isinstance(entrant.system, NeuralSystem)
        needs = [run.folder / LEARNT for run in entrant.system.runs() if run.folder != entrant.folder]
        needs += [lexicon] if "posunk" in entrant.system.additions else []
        text = prepared(setting, MODELS[entrant.system.members[0].name.split("+")[0]].kind)
        name = f"{entrant.name} {entrant.seed or ''}".strip()
        jobs.append(Job(name, entrant.folder / SCORES, tuple(needs), text))
    return jobs


@dataclass
class Board:
    """The jobs of one language pair, some of them running."""

    setting: Setting
    words: list[str]  # of the command line of a job
    most: int  # jobs on the GPU at a time
    end: float  # of time.monotonic(), when trainings are told to stop

    def __post_init__(self) -> None:
        self.jobs = jobs_of(self.setting)
        self.running: dict[str, tuple[subprocess.Popen[bytes], float, Job]] = {}
        self.failed: set[str] = set()

    def go(self) -> bool:
        """Whether everything is done."""
        while True:
            self.read_ended()
            left = [job for job in self.jobs if not job.done and job.name not in self.failed]
            if not left and not self.running:
                return not self.failed
            if time.monotonic() > self.end:
                self.stop()
                return False
            if time.monotonic() < self.end - LATEST:
                self.start_some([job for job in left if job.name not in self.running and job.ready])
            if not self.running:
                print(f"not done: {', '.join(job.name for job in left)}", flush=True)  # too late, or others failed
                return False
            time.sleep(0.2)

    def start_some(self, ready: list[Job]) -> None:
        free = self.most - sum(job.on_gpu for _, _, job in self.running.values())
        for job in ready:
            if job.on_gpu and free <= 0:
                continue
            free -= job.on_gpu
            if job.has_text:
                self.start(job)

    def start(self, job: Job) -> None:
        log = self.log(job)
        log.parent.mkdir(parents=True, exist_ok=True)
        threads = {"OMP_NUM_THREADS": "1"} if job.on_gpu else {}
        with log.open("ab") as file:
            process = subprocess.Popen(
                [sys.executable, __file__, *self.words, "--job", job.name],
                stdout=file,
                stderr=file,
                env={**os.environ, **threads},
            )
        self.running[job.name] = process, time.monotonic(), job
        self.say(f"began {job.name}")

    def read_ended(self) -> None:
        for name, (process, began, job) in list(self.running.items()):
            code = process.poll()
            if code is None:
                continue
            del self.running[name]
            seconds = time.monotonic() - began
            if job.done:
                self.say(f"ended {name} after {seconds:.0f} s{said_of(self.setting, name)}")
                keep(self.setting.out / RESULTS, known_results(self.setting.out))
            elif code != 130:
                self.failed.add(name)
                tail = self.log(job).read_text("utf-8", errors="replace")[-1500:]
                self.say(f"FAILED {name} with code {code}; {self.log(job)} ends:\n{tail}")

    def stop(self) -> None:
        """Tell all jobs to save what they have, and wait for them."""
        self.say(f"time is up: {', '.join(self.running)} save and stop")
        for process, _, _ in self.running.values():
            process.terminate()
        for process, _, _ in self.running.values():
            try:
                process.wait(timeout=max(1.0, self.end + STOPPING - 5 - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()

    def log(self, job: Job) -> Path:
        name = job.name.replace(" ", ".").replace(":", "-")
        return self.setting.out / "logs" / f"{self.setting.pair}.{self.setting.budget:g}.{name}.log"

    def say(self, line: str) -> None:
        left = self.end + STOPPING - time.monotonic()
        print(f"[{self.setting.pair}, {left:4.0f} s left] {line}", flush=True)


def said_of(setting: Setting, name: str) -> str:
    """The scores of an entrant; nothing for other jobs."""
    what, _, seed = name.partition(" ")
    if what in ("prepare", "align"):
        return ""
    path = entrant_of(what, int(seed) if seed else None, setting).folder / SCORES
    bleu = json.loads(path.read_text("utf-8"))["bleu"]
    return ": " + ", ".join(f"{test} {found['score']:.2f}" for test, found in bleu.items())


def known_results(out: Path) -> list[dict[str, Any]]:
    """All figures there are: those of results.json, which may have been copied from another machine, and newer ones."""
    kept, found = out / RESULTS, [json.loads(path.read_text("utf-8")) for path in sorted(out.glob(f"*/*/*/{SCORES}"))]
    before = json.loads(kept.read_text("utf-8")) if kept.exists() else []
    rows = {(row["pair"], row["budget"], row["system"], row["seed"]): row for row in [*before, *found]}
    return list(rows.values())


def measured_speeds(setting: Setting) -> dict[str, float]:
    """Target tokens/s of what is trained, or being trained, at this budget or another."""
    found: dict[str, float] = {}
    for name in MODELS:
        for path in setting.out.glob(f"{setting.pair}/*/{folder_of(name, 1)}/metrics.jsonl"):
            lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            speeds = [line["tokens_per_second"] for line in lines if "tokens_per_second" in line]
            if speeds:
                found[name] = sorted(speeds)[len(speeds) // 2]
    return found


# ------------------------------------------------------------------------------------------------ the GPU


@contextmanager
def shared_gpu(wanted: bool) -> Iterator[None]:
    """CUDA's Multi-Process Service for all jobs, if it is there and works."""
    control = shutil.which("nvidia-cuda-mps-control") if wanted else None
    if control is None:
        yield
        return
    folder = tempfile.mkdtemp(prefix="mps")
    places = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
    os.environ.update(places)
    subprocess.run([control, "-d"], check=False)
    probe = "import torch; torch.ones(1, device='cuda').sum().item()"
    works = subprocess.run([sys.executable, "-c", probe], capture_output=True, timeout=90, check=False).returncode == 0
    print("the GPU is shared by MPS" if works else "MPS does not work here: the GPU is shared by turns", flush=True)
    try:
        if not works:
            quit_mps(control, places)
        yield
    finally:
        if works:
            quit_mps(control, places)


def quit_mps(control: str, places: dict[str, str]) -> None:
    subprocess.run([control], input=b"quit\n", capture_output=True, timeout=30, check=False)
    for name in places:
        os.environ.pop(name, None)


# ------------------------------------------------------------------------------------------------ the command


def print_plan(setting: Setting, jobs: int) -> None:
    table, total = plan_table(setting, measured_speeds(setting))
    print(f"{sizes_table().text()}\n\n{setting.pair}, {setting.budget:.3g} FLOPs a training\n{table.text()}")
    beside = min(float(jobs), BESIDE)
    together = f"{jobs} at a time, which get about {beside:g} times as much done, {total / beside / 60:.0f} minutes"
    print(
        f"\nspeeds with ? are estimates. What is left takes, one after another, {total / 60:.0f} minutes; {together},"
    )
    print("and 1 to 2 minutes for encoding the text of a pair.")


def setting_of(given: argparse.Namespace, pair: str) -> Setting:
    budget = given.budget or (TINY_BUDGET if given.tiny else 5e15)
    whole = Setting(pair, budget, given.data, given.out, given.tiny)
    if not given.tiny:
        return whole
    folder = given.out / "text"
    if not (folder / pair).exists() and not given.job:
        cut_text(whole, folder)
    return Setting(pair, budget, folder, given.out, given.tiny)


def read_command() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder with the text")
    parser.add_argument("--out", type=Path, required=True, help="the folder of runs, logs and results.json")
    parser.add_argument("--pairs", nargs="+", choices=("en-fr", "en-de"), default=["en-fr", "en-de"], help="in turn")
    parser.add_argument("--budget", type=float, help="FLOPs of each training; default: 5e15")
    parser.add_argument("--minutes", type=float, default=9.5, help="of this command, in all")
    parser.add_argument("--jobs", type=int, default=8, help="trainings at a time")
    parser.add_argument("--plan", action="store_true", help="print sizes and estimated times; train nothing")
    parser.add_argument("--tiny", action="store_true", help="a trial of everything, without meaning")
    parser.add_argument("--no-mps", action="store_true", help="let processes use the GPU by turns")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put table and pictures into a page; train nothing")
    parser.add_argument("--job", help=argparse.SUPPRESS)  # in another process of this script
    given = parser.parse_args()
    if given.budget is not None and not 0 < given.budget < float("inf"):
        parser.error(f"--budget must be above 0, but is {given.budget:g}; try 5e15")
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
        write_page(given.write, known_results(given.out))
        return
    if given.job:
        do(setting_of(given, given.pairs[0]), given.job)
        return
    if given.plan:
        for pair in given.pairs:
            print_plan(Setting(pair, given.budget or 5e15, given.data, given.out), given.jobs)
        return
    with shared_gpu(wanted=torch.cuda.is_available() and not given.no_mps):
        for pair in given.pairs:
            setting = setting_of(given, pair)
            words = ["--out", str(given.out), "--data", str(given.data), "--pairs", pair]
            words += ["--budget", repr(setting.budget), *(["--tiny"] if given.tiny else [])]
            if not Board(setting, words, given.jobs, end).go():
                print(f"{pair} is not complete; the same command goes on with it", flush=True)
                break
    print(printed(known_results(given.out)))


if __name__ == "__main__":
    main()
