"""What must be learnt before an entrant can translate, each thing in a process of its own: its memory is its own.

    a run of `regard train`   goes on from its checkpoint if it was interrupted
    a word-based translator   alignments by EM, then counts
    a lexicon                 alignments by EM, in the tokens of the models; one for all models of the comparison

What was learnt lies in a folder. When it is complete, what it cost lies beside it in `learnt.json`, and it is never
learnt again. Nothing is translated here.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import torch

from regard.align.wordbased import WordBased
from regard.compare.entrants import TrainingRun
from regard.data.corpus import DataConfig
from regard.data.splits import find_splits
from regard.decode.token_lexicon import learn_lexicon
from regard.errors import RunError
from regard.files import write_atomically
from regard.text.tokenizer import Tokenizer
from regard.training.checkpoint import CURRENT, PREVIOUS
from regard.training.cost import peak_bytes

LEARNT = "learnt.json"
WORDS = "words.json.gz"


@dataclass(frozen=True)
class LearningCost:
    """What learning took; None where there is no such figure."""

    seconds: float
    peak_bytes: int | None = None
    flops: float | None = None
    steps: int | None = None
    target_tokens: int | None = None
    parameters: int | None = None
    aligning: float = 0.0  # seconds more, for a lexicon

    @property
    def tokens_per_second(self) -> float | None:
        return self.target_tokens / self.seconds if self.target_tokens and self.seconds else None


def learn_run(training: TrainingRun) -> LearningCost:
    return _learnt(training.folder, lambda: _train(training))


def learn_words(data: DataConfig, folder: Path) -> LearningCost:
    return _learnt(folder, lambda: _apart(_word_based, data, folder))


def learn_lexicon_of(data: DataConfig, run: Path, folder: Path) -> LearningCost:
    return _learnt(folder, lambda: _apart(_token_lexicon, data, run, folder))


def _learnt(folder: Path, learn: Callable[[], LearningCost]) -> LearningCost:
    done = folder / LEARNT
    if done.exists():
        return LearningCost(**json.loads(done.read_text(encoding="utf-8")))
    cost = learn()
    write_atomically(done, lambda path: path.write_text(json.dumps(asdict(cost)), encoding="utf-8"))
    return cost


def _train(training: TrainingRun) -> LearningCost:
    """Train, or go on, as a user would."""
    folder = training.folder
    if any((folder / name).exists() for name in (CURRENT, PREVIOUS)):
        words = ["resume", str(folder)]
    else:
        shutil.rmtree(folder, ignore_errors=True)  # stopped before its first checkpoint: nothing is lost
        recipe = recipe_file(folder)
        write_atomically(recipe, lambda path: path.write_text(training.recipe.to_toml(), encoding="utf-8"))
        words = ["train", str(recipe), "--out", str(folder)]
    done = subprocess.run([sys.executable, "-m", "regard", *words], check=False)
    if done.returncode == 130 or not (folder / CURRENT).exists():
        raise RunError(f"{training.name} stopped before its end; to go on, give the same command again")
    if done.returncode not in (0, 2):  # 2: it had its last step already, and said so
        raise RunError(f"{training.name} ended with code {done.returncode}; what it said stands above")
    card = json.loads((folder / "last" / "card.json").read_text(encoding="utf-8"))
    return LearningCost(
        seconds=card["training_seconds"],
        peak_bytes=card.get("peak_bytes"),
        flops=card["training_flops"],
        steps=card["step"],
        target_tokens=card["target_tokens"],
        parameters=card["parameters"],
    )


def recipe_file(folder: Path) -> Path:
    """Beside the folder, which belongs to what is learnt."""
    return folder.with_name(folder.name + ".toml")


def _word_based(data: DataConfig, folder: Path) -> None:
    translator = WordBased.train(find_splits(data).training_pairs())
    folder.mkdir(parents=True, exist_ok=True)
    translator.save(folder / WORDS)


def _token_lexicon(data: DataConfig, run: Path, folder: Path) -> None:
    lexicon = learn_lexicon(find_splits(data).training_pairs(), Tokenizer.load(run / "tokenizer.json"))
    folder.mkdir(parents=True, exist_ok=True)
    lexicon.save(folder)


def _apart(work: Callable[..., None], *arguments: object) -> LearningCost:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_die_quietly) as pool:
        return pool.submit(_measured, work, *arguments).result()


def _die_quietly() -> None:
    """Ctrl-C reaches this process too; its parent is the one to speak of it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _measured(work: Callable[..., None], *arguments: object) -> LearningCost:
    began = time.monotonic()
    work(*arguments)
    return LearningCost(round(time.monotonic() - began, 1), peak_bytes(torch.device("cpu")))
