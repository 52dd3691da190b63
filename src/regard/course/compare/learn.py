"""Training of the entrants, each in a separate process so that its memory can be measured.

    a run, as by `regard train`   resumes from its checkpoint if it was interrupted
    a word-based translator       alignments by EM, then counts
    a phrase-based translator     alignments by EM, phrases, n-grams, weights tuned on the development data
    a lexicon                     alignments by EM, in the tokens of the models; one for all models of the comparison

The result is stored in a folder. When it is complete, its cost is stored there as `learnt.json`, and it is not learnt
again. Nothing is translated here.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import torch

from regard.course.compare.entrants import TrainingRun
from regard.course.phrases.phrase_based import PhraseBased, PhraseBasedConfig
from regard.course.word_based import WordBased
from regard.data.config import DataConfig
from regard.data.corpus import read_pairs
from regard.data.splits import find_splits
from regard.errors import InputError, RegardError, RunError
from regard.files import write_atomically
from regard.search.token_lexicon import LexiconConfig, learn_lexicon
from regard.text.tokenizer import Tokenizer
from regard.training.checkpoint import has_checkpoint, load_checkpoint
from regard.training.cost import peak_bytes
from regard.training.folder import RunFolder
from regard.training.loop import budget_spent
from regard.training.run import resume, train
from regard.workers import in_new_process

LEARNT = "learnt.json"
WORDS = "words.json.gz"
PHRASES = "phrases.npz"


@dataclass(frozen=True)
class LearningCost:
    """The cost of learning; None if a figure does not exist."""

    seconds: float
    peak_bytes: int | None = None
    flops: float | None = None
    steps: int | None = None
    target_tokens: int | None = None
    parameters: int | None = None
    aligning: float = 0.0  # additional seconds, for a lexicon

    @property
    def tokens_per_second(self) -> float | None:
        return self.target_tokens / self.seconds if self.target_tokens and self.seconds else None


def learn_run(training: TrainingRun) -> LearningCost:
    """Trains a model; raises RunError if a stored run has other steps than its recipe."""
    cost = _learn_once(training.folder, training.recipe.data, lambda: _train(training))
    config = training.recipe.train
    ends_by_steps_alone = not (config.minutes or config.flops or config.patience)
    if ends_by_steps_alone and cost.steps != config.steps:
        raise RunError(
            f"{training.folder / LEARNT} says {cost.steps} steps, but the budget is {config.steps:,}; "
            f"remove {training.folder} and run the same command again"
        )
    return cost


def learn_words(data: DataConfig, folder: Path) -> LearningCost:
    """Trains the word-based translator."""
    return _learn_once(folder, data, lambda: in_new_process(_measured, _word_based, data, folder))


def learn_phrases(data: DataConfig, folder: Path) -> LearningCost:
    """Trains the phrase-based translator."""
    return _learn_once(folder, data, lambda: in_new_process(_measured, _phrase_based, data, folder))


def learn_token_lexicon(data: DataConfig, run: Path, folder: Path, config: LexiconConfig | None = None) -> LearningCost:
    """Learns the lexicon in the tokens of the model in `run`."""
    return _learn_once(folder, data, lambda: in_new_process(_measured, _token_lexicon, data, run, folder, config))


def _learn_once(folder: Path, data: DataConfig, learn: Callable[[], LearningCost]) -> LearningCost:
    """Returns the cost recorded in the folder; if nothing is recorded, learns now."""
    done, now = folder / LEARNT, data_fingerprint(data)
    if done.exists():
        try:
            record = json.loads(done.read_text(encoding="utf-8"))
            before = record.pop("data")
            cost = LearningCost(**record)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
            raise RunError(f"{done} cannot be read ({problem}); remove it and run the same command again") from None
        if now not in (None, before):
            raise RunError(f"{done} is of other training data; choose another folder, or remove {folder}")
        return cost
    cost = learn()
    record = json.dumps({**asdict(cost), "data": now})
    write_atomically(done, lambda path: path.write_text(record, encoding="utf-8"))
    return cost


def data_fingerprint(data: DataConfig) -> str | None:
    """Returns the current fingerprint of the training text; None if its files no longer exist."""
    try:
        return find_splits(data).fingerprint()
    except InputError:
        return None


def _train(training: TrainingRun) -> LearningCost:
    """Trains or resumes until the budget is spent. Any other end of the run stops the comparison."""
    folder, recipe = training.folder, training.recipe
    try:
        if not has_checkpoint(folder):
            shutil.rmtree(folder, ignore_errors=True)  # it has no checkpoint, so nothing is lost
            write_atomically(recipe_file(folder), lambda path: path.write_text(recipe.to_toml(), encoding="utf-8"))
            in_new_process(train, recipe, folder)
        elif not _is_done(training):
            in_new_process(resume, folder)
    except RegardError as problem:
        raise RunError(f"training {training.name}, seed {training.seed}: {problem}") from None
    if not _is_done(training):
        raise RunError(f"{training.name} stopped before its budget was spent; to resume, run the same command again")
    card = json.loads((folder / "last" / "card.json").read_text(encoding="utf-8"))
    return LearningCost(
        seconds=card["training_seconds"],
        peak_bytes=card.get("peak_bytes"),
        flops=card["training_flops"],
        steps=card["step"],
        target_tokens=card["target_tokens"],
        parameters=card["parameters"],
    )


def _is_done(training: TrainingRun) -> bool:
    """Whether the last checkpoint has spent the budget, and the model saved beside it is of the same step."""
    if not has_checkpoint(training.folder):
        return False
    progress, config = load_checkpoint(training.folder).progress, training.recipe.train
    spent = progress.step >= config.steps or budget_spent(config, progress) is not None
    return spent and RunFolder(training.folder).last_step() == progress.step


def recipe_file(folder: Path) -> Path:
    """Returns the path of the recipe, which is beside the folder of the learnt files."""
    return folder.with_name(folder.name + ".toml")


def _word_based(data: DataConfig, folder: Path) -> None:
    translator = WordBased.train(find_splits(data).training_pairs())
    folder.mkdir(parents=True, exist_ok=True)
    translator.save(folder / WORDS)


def _phrase_based(data: DataConfig, folder: Path) -> None:
    splits = find_splits(data)
    dev = [] if splits.dev is None else list(islice(read_pairs(splits.dev), PhraseBasedConfig.dev_sentences))
    translator = PhraseBased.train(splits.training_pairs(), dev, say=lambda line: print(line, flush=True))
    folder.mkdir(parents=True, exist_ok=True)
    translator.save(folder / PHRASES)


def _token_lexicon(data: DataConfig, run: Path, folder: Path, config: LexiconConfig | None) -> None:
    lexicon = learn_lexicon(find_splits(data).training_pairs(), Tokenizer.load(run / "tokenizer.json"), config)
    folder.mkdir(parents=True, exist_ok=True)
    lexicon.save(folder)


def _measured(work: Callable[..., None], *arguments: object) -> LearningCost:
    began = time.monotonic()
    work(*arguments)
    return LearningCost(round(time.monotonic() - began, 1), peak_bytes(torch.device("cpu")))
