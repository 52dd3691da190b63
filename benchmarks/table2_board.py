"""The jobs of Table 2 side by side, in processes that share the GPU, until all are done or time is up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from table2_setting import KINDS, Setting
from table2_systems import EVERY_ROW, FIRMER, MEMBERS, MODELS, RATED, SCORES, entrant_of, entrants, folder_of, run_of

from regard.course.compare.entrants import Entrant, NeuralSystem
from regard.course.compare.learn import LEARNT
from regard.files import write_atomically

RESULTS = "results.json"
STOPPING = 40  # seconds before the end at which trainings are told to save and stop
LATEST = 45  # seconds before that at which nothing new begins
# Without it, training for reward, whose batches differ most, held 102 GiB for the 29 that it needed.
SHARED_MEMORY = "expandable_segments:True"


@dataclass(frozen=True)
class Job:
    name: str  # what another process of the script is told to do
    setting: Setting
    makes: Path  # there when it is done
    needs: tuple[Path, ...] = ()  # what others make first
    text: Path | None = None  # the same for its text; its place on the GPU is kept free meanwhile

    def __str__(self) -> str:
        rate = "" if self.setting.rate == 1 or not self.on_gpu else f" at {self.setting.rate:g} times its rate"
        return f"{self.setting.pair} {self.name}{rate}"

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

    @property
    def log(self) -> Path:
        name = self.name.replace(" ", ".").replace(":", "-")
        return self.setting.out / "logs" / f"{self.setting.pair}.{self.setting.runs.name}.{name}.log"


def jobs_of(settings: Sequence[Setting], systems: Sequence[str] = ()) -> list[Job]:
    """In the order in which they begin, where nothing keeps them waiting: what every row needs of one pair, then of the
    next; then what makes figures firmer. One pair's text is encoded after the other's, on all cores. If `systems` are
    given, only these and what they are made of."""
    jobs: list[Job] = []
    before: tuple[Path, ...] = ()
    for setting in settings:
        names = {name for order in orders_of(setting, systems) for name, _ in order}
        kinds = [kind for kind in KINDS if any(MODELS[name.split("+")[0]].kind == kind for name in names)]
        texts = tuple(prepared(setting, kind) for kind in kinds)
        jobs += [Job(f"prepare {kind}", setting, text, before) for kind, text in zip(kinds, texts, strict=True)]
        if any("posunk" in name for name in names):
            first = run_of("deep-att", MEMBERS[0], setting).folder
            jobs.append(Job("align", setting, lexicon_of(setting), (first / "tokenizer.json",)))
        before = texts
    for place in range(2):
        for setting in settings:
            order = orders_of(setting, systems)[place]
            jobs += [job_of(entrant, setting) for entrant in entrants(setting, order)]
    return jobs


def orders_of(setting: Setting, systems: Sequence[str]) -> list[tuple[tuple[str, int | None], ...]]:
    """What every row needs, and what comes after all of that; at another rate than the models' own, fewer systems."""
    orders = (EVERY_ROW, FIRMER) if setting.rate == 1 else (RATED, ())
    return [tuple((name, seed) for name, seed in order if is_part(name, systems)) for order in orders]


def is_part(name: str, systems: Sequence[str]) -> bool:
    """Whether one of the systems is this one or made of it.

    >>> [is_part(name, ["gnmt+rl+ensemble"]) for name in ("gnmt", "gnmt+rl", "gnmt+rl+ensemble", "moe")]
    [True, True, True, False]
    """
    return not systems or any(f"{system}+".startswith(f"{name}+") for system in systems)


def job_of(entrant: Entrant, setting: Setting) -> Job:
    assert isinstance(entrant.system, NeuralSystem)
    needs = [run.folder / LEARNT for run in entrant.system.runs() if run.folder != entrant.folder]
    needs += [lexicon_of(setting)] if "posunk" in entrant.system.additions else []
    text = prepared(setting, MODELS[entrant.system.members[0].name.split("+")[0]].kind)
    name = f"{entrant.name} {entrant.seed or ''}".strip()
    return Job(name, setting, entrant.folder / SCORES, tuple(needs), text)


def prepared(setting: Setting, kind: str) -> Path:
    """There when the text is encoded in tokens of this kind."""
    return setting.out / setting.pair / f"prepared-{kind}.json"


def lexicon_of(setting: Setting) -> Path:
    return setting.runs / "lexicon" / LEARNT


class Board:
    """All jobs, some of them running."""

    def __init__(self, jobs: Sequence[Job], words: Sequence[str], most: int, end: float) -> None:
        """`words` of the command line of every job; `most` jobs on the GPU at a time; `end` of time.monotonic(), when
        trainings are told to stop."""
        self.jobs, self.words, self.most, self.end = jobs, words, most, end
        self.running: dict[Job, tuple[subprocess.Popen[bytes], float]] = {}
        self.failed: set[Job] = set()

    def go(self) -> bool:
        """Whether everything is done."""
        while True:
            self.read_ended()
            left = [job for job in self.jobs if not job.done and job not in self.failed]
            if not left and not self.running:
                return not self.failed
            if time.monotonic() > self.end:
                self.stop()
                return False
            if time.monotonic() < self.end - LATEST:
                self.start_some([job for job in left if job not in self.running and job.ready])
            if not self.running:
                print(f"not done: {', '.join(map(str, left))}", flush=True)  # too late, or others failed
                return False
            time.sleep(0.2)

    def start_some(self, ready: Sequence[Job]) -> None:
        free = self.most - sum(job.on_gpu for job in self.running)
        for job in ready:
            if job.on_gpu and free <= 0:
                continue
            free -= job.on_gpu
            if job.has_text:
                self.start(job)

    def start(self, job: Job) -> None:
        job.log.parent.mkdir(parents=True, exist_ok=True)
        settings = {"OMP_NUM_THREADS": "1", "PYTORCH_CUDA_ALLOC_CONF": SHARED_MEMORY} if job.on_gpu else {}
        command = [sys.executable, str(Path(__file__).with_name("table2.py")), *self.words]
        with job.log.open("ab") as file:
            process = subprocess.Popen(
                [*command, "--pairs", job.setting.pair, "--rates", repr(job.setting.rate), "--job", job.name],
                stdout=file,
                stderr=file,
                env={**os.environ, **settings},
            )
        self.running[job] = process, time.monotonic()
        self.say(f"began {job}")

    def read_ended(self) -> None:
        for job, (process, began) in list(self.running.items()):
            code = process.poll()
            if code is None:
                continue
            del self.running[job]
            if job.done:
                self.say(f"ended {job} after {time.monotonic() - began:.0f} s{said_of(job)}")
                keep(job.setting.out / RESULTS, known_results(job.setting.out))
            elif code != 130:
                self.failed.add(job)
                tail = job.log.read_text("utf-8", errors="replace")[-1500:]
                self.say(f"FAILED {job} with code {code}; {job.log} ends:\n{tail}")

    def stop(self) -> None:
        """Tell all jobs to save what they have, and wait for them."""
        self.say(f"time is up: {', '.join(map(str, self.running))} save and stop")
        for process, _ in self.running.values():
            process.terminate()
        for process, _ in self.running.values():
            try:
                process.wait(timeout=max(1.0, self.end + STOPPING - 5 - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()

    def say(self, line: str) -> None:
        left = self.end + STOPPING - time.monotonic()
        print(f"[{left:4.0f} s left] {line}", flush=True)


# ------------------------------------------------------------------------------------------------ what is known


def keep(path: Path, found: Any) -> None:
    text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda place: place.write_text(text, encoding="utf-8"))


def said_of(job: Job) -> str:
    """The scores of an entrant; nothing for other jobs."""
    what, _, seed = job.name.partition(" ")
    if what in ("prepare", "align"):
        return ""
    path = entrant_of(what, int(seed) if seed else None, job.setting).folder / SCORES
    bleu = json.loads(path.read_text("utf-8"))["bleu"]
    return ": " + ", ".join(f"{test} {found['score']:.2f}" for test, found in bleu.items())


def known_results(out: Path, *kept: Path) -> list[dict[str, Any]]:
    """All figures there are: those of files such as results.json, which may come from another machine, and newer ones
    of the runs in `out`."""
    files = [path for path in (*kept, out / RESULTS) if path.exists()]
    rows = [row for path in files for row in json.loads(path.read_text("utf-8"))]
    rows += [json.loads(path.read_text("utf-8")) for path in sorted(out.glob(f"*/*/*/{SCORES}"))]
    keys = ("pair", "budget", "rate", "system", "seed")
    return list({tuple(row[key] for key in keys): row for row in rows}.values())


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
