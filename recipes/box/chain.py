"""From clean text to six packed translators, within a number of minutes: English to and from French, German, Spanish.

    python recipes/box/chain.py --data data/general --out runs/general --minutes 25
    python recipes/box/chain.py --data data/general --out runs/general --minutes 25 --plan      what it would do
    python recipes/box/chain.py --data data/general --out runs/trial --tiny                     on a CPU, in minutes

Stages, each of which is skipped if it was done before in OUT:

    texts        the embedded grammar, a part of Europarl to be changed, sentences to evaluate on        OUT/texts
    encode       the vocabulary, known words, and all text as ids                             OUT/vocabulary, OUT/cache
    teacher      general-teacher.toml, by minutes; with --seeds 1 2 two of them                          OUT/teacher-1
    translate    the teachers translate general-texts.toml, as an ensemble, as much as there is time for
                                                                                                         OUT/translated
    encode-translated                these translations, with the teacher's vocabulary
    student      general-student.toml, by minutes                                                        OUT/student
    pack         six folders in 8 bits, one set of weights                                               OUT/bundled
    views        views.py: which attention aligns, with its error rate where links are known (--gold)
    calibrate    benchmarks/guard.py: what a confidence means, fitted on held-out text of each direction
    table        benchmarks/box.py with these six                                                    OUT/results.json

The minutes count from the start of the process. A stage that fails is reported, and the following ones are done
as far as what they need is there; the exit code is then 1.

Work can be spread over sessions: --stage names the stages of this one, and the minutes are divided among them. A
training that was killed goes on from its checkpoint, a translation behind its last whole chunk. To train a model
further than its minutes, start another from it:

    chain.py … --minutes 24 --stage texts encode teacher                        one session, only a teacher
    chain.py … --minutes 24 --stage texts encode teacher --seeds 2 --start-from OUT/teacher-1    goes on as teacher-2
    chain.py … --minutes 24 --stage translate encode-translated student --teachers OUT/teacher-2
    chain.py … --minutes 24 --stage texts encode teacher --start-from OUT/grown                 of grow.py
    chain.py … --stage pack views calibrate table                               needs no GPU

With --self-taught there is no larger teacher: a model of the student's shape takes its place, and the student goes on
from its weights, so that all minutes of training go into one model. It still learns from its own back-translations: of
text without translations, with people's sentences as targets.

The last line finishes a model that is there already: OUT/student is a run, or a run packed with --weights float16, and
may come from another machine. All that pack needs besides is OUT/texts, which --stage texts makes from DATA. Views and
calibration go into the cards of OUT/bundled, and so do the scores of the table; then the six folders can be shipped.

DATA is laid out like this, cleaned of all test sentences; what is not there is left out:

    en-fr en-de en-es                 train, dev, test of Europarl: train.en, train.fr …
    SOURCE-en-fr SOURCE-en-de …       train, dev, test of each further source: tatoeba, ui, news …
    mono/en.txt fr.txt de.txt es.txt  single sentences; wiki.en.txt … of Wikipedia, novels.fr.txt, public.fr.txt
    tests/                            flores-dev, flores-devtest, newstest2013, …

What each stage took is in OUT/cost.json, everything that was printed in OUT/chain.log. To bring a model away in parts
of 15 MB, and to join them again:

    regard pack OUT/teacher-1 --weights float16 --out OUT/teacher-half
    tar -C OUT -c teacher-half | split -b 15M - OUT/teacher.tar.         cat teacher.tar.* | tar -x
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
import tomllib
import traceback
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import chain_stages as stages
from chain_cost import CostLog
from chain_plan import (
    FIXED,
    SELF_TAUGHT,
    SHARES,
    STAGES,
    Corpus,
    TextToTranslate,
    divide,
    encode_seconds,
    epoch,
    measure,
    process_began,
    search_seconds,
    texts_to_translate,
    tokens_per_second,
    training_minutes,
)
from chain_texts import cut
from mixture import expand, only_backward
from translate_lines import SAMPLE

from regard.errors import RegardError, RunError
from regard.models.table import make_model
from regard.recipe.read import recipe_from_tables
from regard.recipe.recipe import Recipe

HERE = Path(__file__).parent
WITH_REFERENCES = ("tatoeba", "general", "europarl")  # texts to translate that are parts of the pairs
TINY_LINES = 1500
TINY_FIXED = {"texts": 5.0, "pack": 12.0, "views": 15.0, "calibrate": 40.0, "table": 20.0}  # seconds
TINY = {  # laid over the recipes
    "text": {"vocab_size": 1500},
    "model": {"width": 64, "heads": 2, "inner": 128, "encoder_layers": 2, "decoder_layers": 1},
    "train": {"batch_tokens": 1024, "warmup": 20, "eval_every": 1000, "learning_rate": 4e-3},
}


@dataclass
class Chain:
    """What was asked for, and where everything is."""

    data: Path
    out: Path
    minutes: float
    wanted: list[str]
    device: str
    tiny: bool = False
    seeds: list[int] = field(default_factory=lambda: [1])
    teachers: list[Path] = field(default_factory=list)  # in place of those of the seeds
    start_from: Path | None = None
    self_taught: bool = False
    student: str = "student"  # the name of its run
    again: bool = False  # what was done before too
    vocabulary: Path | None = None
    gold: Path | None = None
    recipes: dict[str, Path] = field(default_factory=dict)
    cores: int = 1
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.costs = CostLog(self.out / "cost.json")
        self.log = self.out / "chain.log"

    def report(self, line: str) -> None:
        stamp = time.strftime("%H:%M:%S", time.gmtime())
        print(f"{stamp}  {line}", flush=True)
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{stamp}  {line}\n")

    def alarm(self, line: str) -> None:
        """What nobody may overlook in a long log."""
        self.report(f"!!!!! {line}")

    def tables(self, name: str) -> dict[str, Any]:
        """A recipe with its folders, without the corpora whose files are not there (yet)."""
        text = self.recipes[name].read_text(encoding="utf-8")
        tables = tomllib.loads(text.replace('"DATA/', f'"{self.data}/').replace('"OUT/', f'"{self.out}/'))
        tables["data"] |= {"cache": str(self.out / "cache")}
        corpora = tables["data"]["corpus"]
        tables["data"]["corpus"] = expand(only_backward(corpora) if self.self_taught else corpora)
        for section, keys in TINY.items() if self.tiny else ():
            tables[section] = {**tables[section], **keys}
        return tables

    def recipe(self, name: str) -> Recipe:
        return recipe_from_tables(self.tables(name))

    def corpora(self, name: str) -> list[Corpus]:
        return [
            Corpus(f"{Path(c['src']).parent.name}/{Path(c['src']).name}", measure(Path(c["tgt"])), c.get("weight", 1.0))
            for c in self.tables(name)["data"]["corpus"]
        ]

    @property
    def shares(self) -> dict[str, float]:
        return SELF_TAUGHT if self.self_taught else SHARES

    def texts_to_translate(self) -> list[TextToTranslate]:
        """With --self-taught there is no larger teacher: only texts without translations by people are translated, by
        samples, since they serve as sources."""
        found = texts_to_translate(self.recipes["texts"], self.data, self.out)
        if not self.self_taught:
            return found
        return [replace(text, beam=SAMPLE) for text in found if text.name not in WITH_REFERENCES]

    def teacher_folders(self) -> list[Path]:
        return self.teachers or [self.out / f"teacher-{seed}" for seed in self.seeds]

    def teachers_there(self) -> list[Path]:
        return [folder for folder in self.teacher_folders() if stages.is_model(folder)]

    def done(self, stage: str) -> bool:
        """Whether a stage was done before, and its result is there: a later session may have another machine."""
        if self.again:
            return False
        if stage == "teacher":
            return not stages.teachers_missing(self)
        there = all(path.exists() for path in stages.results(self, stage))
        return there and self.costs.done(stage, self.student if stage == "student" else "")

    def run(self, *words: str | Path, threads: int | None = None, name: str = "") -> None:
        """A command, its output shown and kept; with a name, after that."""
        command = [sys.executable, *map(str, words)]
        places = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", env=places
        ) as process:
            assert process.stdout is not None
            shown = (self.report(f"   {name + ' ' if name else ''}{line.rstrip()}") for line in process.stdout)
            try:
                deque(shown, maxlen=0)
            except KeyboardInterrupt:
                process.terminate()  # a training saves its state before it ends
                process.communicate()
                raise
        if process.returncode:
            raise RunError(f"{' '.join(map(str, words))} ended with code {process.returncode}")

    # ── the plan ────────────────────────────────────────────────────────────────────────────────────────────────────

    def fixed(self) -> dict[str, float]:
        """Seconds of the stages that take what they take."""
        pairs = sum(corpus.text.lines for corpus in self.corpora("teacher"))
        lines = sum(measure(one.path).lines for one in self.texts_to_translate())
        learnt = self.vocabulary is not None
        encoding = {
            "encode": encode_seconds(pairs, self.cores, learnt),
            "encode-translated": 5 + lines / 2 / 6000 / self.cores,
        }
        return {**FIXED, **encoding, **(TINY_FIXED if self.tiny else {})}

    def allotted(self, stage: str) -> float:
        """Seconds that a stage has now, with what is left of the minutes."""
        left = 60 * self.minutes - (time.monotonic() - self.began)
        following = [s for s in self.wanted[self.wanted.index(stage) :] if s == stage or not self.done(s)]
        try:
            return divide(max(1.0, left), following, self.fixed(), self.shares)[stage]
        except ValueError:  # late: the stages that must be whole first
            return max(10.0, left / 2)

    def print_plan(self) -> None:
        todo = [stage for stage in self.wanted if not self.done(stage)]
        try:
            share = divide(60 * self.minutes, todo, self.fixed(), self.shares)
        except ValueError as problem:
            raise SystemExit(str(problem)) from None
        self.report(f"plan: {self.minutes:g} minutes on {self.device}, {self.cores} cores; all of it estimated")
        for name in ("teacher", "student"):
            if name in todo:
                self.report_training(name, share[name])
        if "translate" in todo:
            wanted = self.texts_to_translate()
            for kind in dict.fromkeys(one.name for one in wanted):
                some = [one for one in wanted if one.name == kind]
                tokens = sum(measure(one.path).tokens for one in some)
                took = sum(search_seconds(measure(one.path).tokens, one.beam, self.device) for one in some)
                self.report(f"  translate  {kind:<9}{tokens / 1e6:8.1f} M tokens, {took:,.0f} s for all of it")
        self.report("  " + ", ".join(f"{stage} {seconds:,.0f} s" for stage, seconds in share.items()))

    def report_training(self, name: str, seconds: float) -> None:
        recipe, corpora = self.recipe(name), self.corpora(name)
        whole = epoch(corpora)
        length = max(2, round(whole.tokens / max(1, whole.lines)))
        size = recipe.text.vocab_size + len(recipe.text.tags)
        model = make_model(recipe.architecture, recipe.model, stages.Sizes(size))  # type: ignore[arg-type]
        flops = 3 * model.flops(length, length) / length
        runs = len(self.seeds) if name == "teacher" else 1
        minutes, rate = training_minutes(seconds, self.device, runs), tokens_per_second(flops, self.device)
        tokens = 60 * minutes * rate
        each = f", each of {runs}" if runs > 1 else ""
        self.report(
            f"  {name:<10} {model.parameter_count() / 1e6:.1f} M parameters, {len(corpora)} corpora, an epoch of "
            f"{whole.lines:,} pairs and {whole.tokens / 1e6:,.1f} M tokens"
        )
        self.report(
            f"  {'':<10} {minutes:.1f} minutes at {rate:,.0f} tokens/s: {tokens / max(1, whole.tokens):.2f} epochs, "
            f"{tokens * flops:.2g} FLOPs{each}"
        )

    # ── the stages ──────────────────────────────────────────────────────────────────────────────────────────────────

    def go(self) -> None:
        """Every stage whose needs are there, whatever became of those before it."""
        self.print_plan()
        failed = []
        for stage in self.wanted:
            if self.done(stage):
                self.report(f"{stage}: done before")
            elif lacking := stages.missing(self, stage):
                self.alarm(f"{stage}: left out, for it needs {lacking}")
                failed.append(stage)
            elif not self.succeeds(stage):
                failed.append(stage)
        for line in self.costs.table().text().splitlines():
            self.report(line)
        if failed:
            raise RunError(f"failed: {', '.join(failed)}; why is in {self.log}. The same command goes on")

    def succeeds(self, stage: str) -> bool:
        seconds = self.allotted(stage)
        self.report(f"{stage}: {seconds:,.0f} s planned")
        began = time.monotonic()
        try:
            for cost in stages.STAGE[stage](self, seconds):
                cost.seconds, cost.planned = time.monotonic() - began, seconds
                self.costs.add(cost)
                began, seconds = time.monotonic(), 0.0
        except Exception as problem:  # whatever it is, the time of the stages after it must not be lost
            if not isinstance(problem, RegardError):
                for line in traceback.format_exc().splitlines():
                    self.report(f"   {line}")
            self.alarm(f"{stage}: failed after {time.monotonic() - began:,.0f} s: {problem}")
            return False
        self.report(f"{stage}: {self.costs.stages[-1].seconds:,.0f} s; {self.costs.stages[-1].note}")
        return True


def chain_of(given: argparse.Namespace) -> Chain:
    from regard.device import pick_device

    given.out.mkdir(parents=True, exist_ok=True)
    data, minutes = given.data, given.minutes or (2.0 if given.tiny else 25.0)
    if not data.is_dir():
        raise SystemExit(f"no data at {data}; its layout is in: python {sys.argv[0]} --help")
    if given.tiny:
        data = given.out / "data"
        if not data.is_dir():
            cut(given.data, data, TINY_LINES)
    device = given.device or ("cpu" if given.tiny else pick_device("auto").type)
    return Chain(
        data=data,
        out=given.out,
        minutes=minutes,
        wanted=[stage for stage in STAGES if stage in given.stage],
        device=device if device == "cuda" else "cpu",
        tiny=given.tiny,
        seeds=given.seeds,
        teachers=given.teachers,
        start_from=given.start_from,
        vocabulary=given.vocabulary,
        gold=given.gold,
        cores=given.cores,
        self_taught=given.self_taught,
        student=given.student,
        again=given.again,
        began=process_began(),
        recipes={
            "teacher": given.student_recipe if given.self_taught else given.teacher_recipe,
            "student": given.student_recipe,
            "texts": given.texts,
        },
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="the clean text")
    options.add_argument("--out", type=Path, required=True, help="a folder; what is there is not made again")
    options.add_argument("--minutes", type=float, help="for all stages together (default: 25, with --tiny 2)")
    options.add_argument("--stage", nargs="+", choices=STAGES, default=STAGES, help="only these")
    options.add_argument("--tiny", action="store_true", help=f"small models, {TINY_LINES:,} lines a file, on the CPU")
    options.add_argument("--plan", action="store_true", help="print the plan and stop")
    options.add_argument(
        "--device", choices=("cuda", "cpu"), help="default: what there is, with --tiny the CPU; with --plan any"
    )
    options.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="for the plan")
    options.add_argument("--seeds", type=int, nargs="+", default=[1], help="a teacher for each")
    options.add_argument("--teachers", type=Path, nargs="+", default=[], help="models that translate, together")
    options.add_argument("--start-from", type=Path, help="weights that the first training of this session goes on from")
    options.add_argument("--self-taught", action="store_true", help="no larger teacher: the student is its own")
    options.add_argument("--student", default="student", metavar="NAME", help="the name of the student's run in OUT")
    options.add_argument("--again", action="store_true", help="do the stages again, if they were done before")
    options.add_argument(
        "--vocabulary",
        type=Path,
        help="a folder with tokenizer.json and words.txt.gz, such as OUT/vocabulary of another chain; saves a minute",
    )
    options.add_argument("--gold", type=Path, help="a folder with the Hansards' links, as views.py wants it")
    options.add_argument("--teacher-recipe", type=Path, default=HERE / "general-teacher.toml")
    options.add_argument("--texts", type=Path, default=HERE / "general-texts.toml", help="what the teachers translate")
    options.add_argument("--student-recipe", type=Path, default=HERE / "general-student.toml")
    given = options.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as by Ctrl-C: what is running saves its state
    chain = chain_of(given)
    try:
        if given.plan:
            chain.print_plan()
        else:
            chain.go()
    except RegardError as problem:
        raise SystemExit(str(problem)) from None
    except KeyboardInterrupt:
        raise SystemExit("stopped; the same command goes on") from None


if __name__ == "__main__":
    main()
