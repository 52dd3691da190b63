"""Common parts of all experiments: results and verdicts, one small corpus, one recipe, trained models.

The criterion for "shown" is part of a claim and is fixed before its experiment runs, with two exceptions that
docs/claims.md names. A verdict is one of

    shown               the measurement meets the criterion with every seed
    not shown           it does not; that is no proof of the contrary
    the notes are wrong the notes' own formula does not give the printed value
    rounded             it does, except for the last printed digit

Training is the same as `regard train`, so an interrupted run resumes exactly. Measurements of a trained model are
cached. A model that several experiments need is trained once.
"""

from __future__ import annotations

import io
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.bundle.folder import find_bundle
from regard.course.claims.ablations import ABLATIONS
from regard.course.grammar import Example, Split, generate, write_corpus
from regard.data.config import DataConfig
from regard.files import write_atomically
from regard.metrics.bleu import bleu
from regard.models.base import Model
from regard.models.table import ARCHITECTURES
from regard.recipe.recipe import Recipe
from regard.recipe.train import TrainConfig
from regard.text.tokenizer import TextConfig
from regard.training.checkpoint import CURRENT, PREVIOUS
from regard.training.evaluate import HeldOut, token_loss
from regard.training.run import resume, train
from regard.translation.options import AS_LINES
from regard.translator import Translator

SHOWN, NOT_SHOWN = "shown", "not shown"


@dataclass(frozen=True)
class ClaimResult:
    """The measurements of an experiment, and the verdict."""

    verdict: str
    figure: str  # the numbers behind the verdict, in one or two lines
    header: list[str] = field(default_factory=list)  # a table with more numbers
    rows: list[list[str]] = field(default_factory=list)
    remark: str = ""  # other observations, above all surprises


def judge(passed: bool) -> str:
    """Returns the verdict, "shown" or "not shown"."""
    return SHOWN if passed else NOT_SHOWN


def over_seeds(values: Sequence[float], form: str = "{:.1f}") -> str:
    """Formats the mean over seeds with minimum and maximum: [70, 74, 75] is "73.0 (70.0 to 75.0)"."""
    mean, *ends = (form.format(x) for x in (sum(values) / len(values), min(values), max(values)))
    return mean if len(values) == 1 else f"{mean} ({ends[0]} to {ends[1]})"


def read_data(name: str) -> dict[str, Any]:
    """Reads a TOML file of this folder."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


class JsonCache:
    """Results cached in a folder: existing ones are read, not computed again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """Returns the stored result, or that of `make`, which is then stored."""
        path = self.folder / f"{name}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        result = make()
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
        write_atomically(path, lambda place: place.write_text(text, encoding="utf-8"))
        return json.loads(text)  # the same types as when it is read later


SEEDS = (1, 2, 3)
LONGEST = 128  # tokens


@dataclass(frozen=True)
class ModelSpec:
    """A model to train: its architecture and the changes to it."""

    name: str
    architecture: str = "transformer"
    ablation: str = "none"  # one of ABLATIONS
    heads: int | None = None
    updates: int = 1  # a multiple of the usual number
    assessed: int = 1  # evaluations on the dev set, the last one at the end


BASE = ModelSpec("transformer")


class ExperimentSetup:
    """Corpus, trained models and measurements, all in one folder."""

    def __init__(self, out: Path, quick: bool = False, tell: Callable[[str], None] = lambda line: None) -> None:
        self.out, self.quick, self.tell = out, quick, tell
        self.cache = JsonCache(out / "parts")
        self.steps = 40 if quick else 600
        self.seeds = SEEDS[:1] if quick else SEEDS
        self._splits: dict[str, Split] | None = None

    @property
    def splits(self) -> dict[str, Split]:
        if self._splits is None:
            self.tell("making the corpus")
            self._splits = generate(1000 if self.quick else 20_000)
        return self._splits

    def test(self) -> list[Example]:
        """Returns every third test sentence."""
        return list(self.splits["test"].examples[:: 8 if self.quick else 3])

    def corpus(self) -> Path:
        """Returns the folder of the corpus, which is written if needed."""
        folder = self.out / "corpus"
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            splits = self.splits
            write_corpus(folder, splits)
            for name, size in (("few", 50), ("some", 200)):  # to see the loss fall, to see BLEU rise
                for side in ("src", "tgt"):
                    text = "".join(getattr(example, side) + "\n" for example in splits["dev"].examples[-size:])
                    (folder / f"{name}.{side}").write_text(text, encoding="utf-8")
            (folder / "done").touch()
        return folder

    def recipe(self, spec: ModelSpec, seed: int) -> Recipe:
        """Returns the training recipe of a model."""
        corpus = self.corpus()
        presets = ARCHITECTURES[spec.architecture].presets
        model = replace(presets["tiny"], dropout=0.0)
        if spec.heads is not None:
            model = replace(model, heads=spec.heads)
        dev = "few" if spec.assessed == 1 else "some"
        data = DataConfig(
            src=str(corpus / "train.en"),
            tgt=str(corpus / "train.fr"),
            dev_src=str(corpus / f"{dev}.src"),
            dev_tgt=str(corpus / f"{dev}.tgt"),
            max_length=LONGEST,
        )
        steps = self.steps * spec.updates
        learning = TrainConfig(
            steps=steps, batch_tokens=512, optimizer="muon", learning_rate=4e-3, schedule="cosine",
            warmup=max(1, steps // 10), eval_every=steps // spec.assessed,
            save_every=max(1, steps // 4), seed=seed, device="cpu",
        )  # fmt: skip
        text = TextConfig(vocab_size=800 if self.quick else 2400)
        return Recipe(
            data=data, text=text, architecture=spec.architecture, model=model, train=learning, decode=DecodeConfig(1)
        )

    @contextmanager
    def trained(self, spec: ModelSpec, seed: int) -> Iterator[Bundle]:
        """Yields the model, which is trained if needed; its ablation is active inside the `with` block."""
        with ABLATIONS[spec.ablation]():
            yield Bundle.load(find_bundle(self._run(spec, seed)), "cpu")

    def curve(self, spec: ModelSpec, seed: int) -> list[tuple[int, float]]:
        """Returns the learning curve: updates and BLEU on the dev set."""

        def read() -> list[tuple[int, float]]:
            lines = (self._run(spec, seed) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
            rows = [row for row in map(json.loads, lines) if row["kind"] == "dev"]
            return [(row["step"], row["bleu"]) for row in rows]

        return [(step, score) for step, score in self.cache.get(f"{spec.name}-{seed}-curve".replace(" ", "-"), read)]

    def _run(self, spec: ModelSpec, seed: int) -> Path:
        """Returns the folder of the run, which is trained if needed."""
        folder = self.out / "runs" / f"{spec.name.replace(' ', '-')}-{seed}"
        self._learn(spec, seed, folder)
        return folder

    def _learn(self, spec: ModelSpec, seed: int, folder: Path) -> None:
        done = folder.with_name(folder.name + ".done")
        if done.exists():
            return
        quiet = Console(file=io.StringIO())
        if (folder / CURRENT).exists() or (folder / PREVIOUS).exists():
            self.tell(f"resuming {spec.name}, seed {seed}")
            outcome = resume(folder, console=quiet)
        else:
            shutil.rmtree(folder, ignore_errors=True)  # it has no checkpoint, so nothing is lost
            self.tell(f"training {spec.name}, seed {seed}: {self.steps * spec.updates} updates")
            outcome = train(self.recipe(spec, seed), folder, quiet)
        if outcome.ending == "interrupted":
            raise KeyboardInterrupt
        done.touch()

    def measured(self, spec: ModelSpec, seed: int, what: str, measure: Callable[[Bundle], Any]) -> Any:
        """Returns a measurement of a trained model, cached."""

        def make() -> Any:
            with self.trained(spec, seed) as bundle:
                return measure(bundle)

        return self.cache.get(f"{spec.name}-{seed}-{what}".replace(" ", "-"), make)

    # ---------------------------------------------------------------- measurements that several experiments share

    def translations(self, spec: ModelSpec, seed: int) -> list[str]:
        """Returns greedy translations of the test."""
        sources = [example.src for example in self.test()]
        found: list[str] = self.measured(spec, seed, "test", lambda bundle: translations_of(bundle, sources))
        return found

    def bleu(self, spec: ModelSpec, seed: int) -> float:
        """Returns BLEU of the greedy translations of the test."""
        return bleu(self.translations(spec, seed), [example.tgt for example in self.test()]).score

    def loss(self, spec: ModelSpec, seed: int) -> float:
        """Returns nats per target token of the test under teacher forcing."""
        pairs = HeldOut([e.src for e in self.test()], [e.tgt for e in self.test()])
        found: float = self.measured(spec, seed, "loss", lambda bundle: token_loss(bundle, pairs, LONGEST, 4096))
        return found


def translations_of(bundle: Bundle, sources: list[str], beam: int = 1) -> list[str]:
    """Translates lines, each as one sentence."""
    translator = Translator(bundle, DecodeConfig(beam), LONGEST)
    return [one.text for one in translator.translate(sources, **AS_LINES)]


def untrained_model(architecture: str, vocabulary: int, seed: int) -> Model:
    """Makes a model of preset tiny with random weights."""
    torch.manual_seed(seed)
    _, presets, make = ARCHITECTURES[architecture]
    return make(presets["tiny"], vocabulary, vocabulary, True)
