"""Running a comparison: every entrant trained in a process of its own, then asked to translate the same test.

A run that is done is skipped, one that was interrupted goes on from its checkpoint, so the same command can be given
again after a crash or a night. What is known of a finished run lies beside it in `compared.json`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from regard.compare.plan import Entrant
from regard.data.corpus import find_splits, read_pairs
from regard.decode.translate import Translator
from regard.errors import InputError, RunError
from regard.files import write_atomically
from regard.training.checkpoint import CURRENT, PREVIOUS
from regard.training.evaluate import HeldOut

DONE = "compared.json"


@dataclass(frozen=True)
class Result:
    """One finished run: what it said, and what it cost."""

    model: str
    seed: int
    translations: list[str]  # of the test
    parameters: int
    steps: int
    target_tokens: int
    flops: float
    seconds: float  # of training
    peak_bytes: int | None  # of memory while training
    translating: float  # seconds
    learning_rate: float
    config: dict[str, Any]

    @property
    def tokens_per_second(self) -> float:
        return self.target_tokens / self.seconds if self.seconds else 0.0


def read_test(entrant: Entrant) -> HeldOut:
    files = find_splits(entrant.recipe.data).test
    if files is None:
        raise InputError("a comparison needs a test: give --test-src FILE --test-tgt FILE, or name them in the recipe")
    pairs = list(read_pairs(files))
    return HeldOut([s for s, _ in pairs], [t for _, t in pairs])


def run_all(entrants: Sequence[Entrant], out: Path, test: HeldOut, console: Console) -> list[Result]:
    results = []
    for number, entrant in enumerate(entrants, start=1):
        folder = out / "runs" / entrant.folder
        where = f"{number} of {len(entrants)}: {entrant.model}, seed {entrant.seed}"
        if (folder / DONE).exists():
            console.print(f"{where}: done before", highlight=False)
            results.append(Result(**json.loads((folder / DONE).read_text(encoding="utf-8"))))
            continue
        console.rule(f"[bold]{where}", align="left")
        run_one(entrant, folder)
        results.append(finish(entrant, folder, test))
    return results


def run_one(entrant: Entrant, folder: Path) -> None:
    """Train, or go on, in a process of its own: its memory is its own, and its end is not ours."""
    started = [sys.executable, "-m", "regard"]
    if any((folder / name).exists() for name in (CURRENT, PREVIOUS)):
        words = ["resume", str(folder)]
    else:
        shutil.rmtree(folder, ignore_errors=True)  # stopped before its first checkpoint: nothing is lost
        folder.parent.mkdir(parents=True, exist_ok=True)
        recipe = folder.with_suffix(".toml") if not folder.suffix else folder.with_name(folder.name + ".toml")
        write_atomically(recipe, lambda path: path.write_text(entrant.recipe.to_toml(), encoding="utf-8"))
        words = ["train", str(recipe), "--out", str(folder)]
    done = subprocess.run([*started, *words], check=False)
    if done.returncode == 130 or not (folder / CURRENT).exists():
        raise RunError(f"{entrant.model} stopped before its end; to go on, give the same command again")
    if done.returncode not in (0, 2):  # 2: it had its last step already, and said so
        raise RunError(f"{entrant.model} ended with code {done.returncode}; what it said stands above")


def finish(entrant: Entrant, folder: Path, test: HeldOut) -> Result:
    translator = Translator.load(folder, entrant.recipe.train.device)
    began = time.monotonic()
    translations = [t.text for t in translator.translate(test.sources)]
    last = json.loads((folder / "last" / "card.json").read_text(encoding="utf-8"))
    result = Result(
        model=entrant.model,
        seed=entrant.seed,
        translations=translations,
        parameters=translator.bundle.model.parameter_count(),
        steps=last["step"],
        target_tokens=last["target_tokens"],
        flops=last["training_flops"],
        seconds=last["training_seconds"],
        peak_bytes=last.get("peak_bytes"),
        translating=round(time.monotonic() - began, 2),
        learning_rate=entrant.recipe.train.learning_rate,
        config=last["recipe"]["model"],
    )
    text = json.dumps(asdict(result), ensure_ascii=False, indent=1)
    write_atomically(folder / DONE, lambda path: path.write_text(text, encoding="utf-8"))
    return result
