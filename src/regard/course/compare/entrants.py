"""The systems of a comparison, and the meaning of their names.

    rnn  transformer:tiny     a neural model, an architecture or one of its presets; once for each seed
    rnn+rl  gnmt+rl+ensemble  with additions, in the order of ADDITIONS
    ensemble                  all plain neural models of the comparison, seed 1, as one ensemble
    ibm  phrases  rules       no neural network: no seed, and no counted operations

A neural system is an ensemble of one or more trained runs with additions for translation; its cost is that of all its
runs. Recipes are made in `plan.py`, training is in `run.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.config import nearest
from regard.errors import InputError
from regard.models.table import ARCHITECTURES
from regard.recipe.recipe import Recipe

BASELINES = {
    "ibm": "word for word, aligned by EM on the training data, chosen with a bigram model",
    "phrases": "phrase-based: phrases from the aligner, a 5-gram model, weights tuned on the development data",
    "rules": "translation by rules; for a test that the rules can parse",
}
ENSEMBLE = "ensemble"
ADDITIONS = {  # in the order in which a name has them
    "rl": "further trained for reward, self-critical, from the run of the same seed; costs both",
    "lexicon": "a lexicon from the aligner is mixed into every step",
    "rules": "the words of the translation by rules are preferred, where the rules can parse the sentence",
    "posunk": "unknown words are replaced by way of the attention; needs text.unit = word",
    "ensemble": "all seeds as one ensemble; needs 2 seeds or more",
}


@dataclass(frozen=True)
class TrainingRun:
    """One training run."""

    name: str  # rnn, rnn+rl
    seed: int
    recipe: Recipe
    folder: Path
    after: TrainingRun | None = None  # the run it starts from

    def runs(self) -> list[TrainingRun]:
        """Returns this run and those it starts from, in training order."""
        return [*(self.after.runs() if self.after else []), self]


@dataclass(frozen=True)
class NeuralSystem:
    """One trained model, or an ensemble of several."""

    members: tuple[TrainingRun, ...]
    additions: tuple[str, ...] = ()  # any of lexicon, rules and posunk

    def runs(self) -> list[TrainingRun]:
        """Returns every run that it needs, in training order, each once."""
        found = {run.folder: run for member in self.members for run in member.runs()}
        return list(found.values())


@dataclass(frozen=True)
class Entrant:
    """One translator of the comparison; a row of the report is all entrants with one name."""

    name: str
    seed: int | None  # None: one system for all seeds
    recipe: Recipe  # of its first member; a system without a network uses only the data
    system: NeuralSystem | None  # None: the system of BASELINES with this name
    folder: Path

    def __str__(self) -> str:
        return self.name if self.seed is None else f"{self.name}, seed {self.seed}"

    @property
    def needs_rules(self) -> bool:
        return self.name == "rules" or (self.system is not None and "rules" in self.system.additions)


@dataclass(frozen=True)
class EntrantName:
    """A parsed name."""

    text: str
    architecture: str  # or one of BASELINES, or ENSEMBLE
    preset: str
    additions: tuple[str, ...]

    @property
    def is_neural(self) -> bool:
        return self.architecture in ARCHITECTURES

    @property
    def model(self) -> str:
        """The name without additions."""
        return self.text.split("+")[0]


def read_name(text: str) -> EntrantName:
    """
    >>> read_name("gnmt:small+rl+ensemble")
    EntrantName(text='gnmt:small+rl+ensemble', architecture='gnmt', preset='small', additions=('rl', 'ensemble'))
    """
    head, *additions = text.split("+")
    architecture, _, preset = head.partition(":")
    known = (*ARCHITECTURES, *BASELINES, ENSEMBLE)
    if architecture not in known:
        raise InputError(f'unknown model "{architecture}"; {nearest(architecture, known)}', parameter="models")
    if architecture not in ARCHITECTURES and preset:
        raise InputError(
            f'"{text}" names a preset, but {architecture} has none; write {architecture}', parameter="models"
        )
    for one in additions:
        if one not in ADDITIONS:
            raise InputError(f'unknown addition "+{one}" in {text}; {nearest(one, ADDITIONS)}', parameter="models")
        if architecture not in ARCHITECTURES:
            raise InputError(
                f'"{text}" is impossible: +{one} is for neural models, and {architecture} is none', parameter="models"
            )
        if one == "posunk" and not ARCHITECTURES[architecture].model.has_attention:
            raise InputError(
                f'"{text}" is impossible: +posunk needs attention, and {architecture} has none; try rnn-attention',
                parameter="models",
            )
    ordered = [one for one in ADDITIONS if one in additions]
    if additions != ordered:
        raise InputError(f'"{text}" must be written {"+".join([head, *ordered])}', parameter="models")
    return EntrantName(text, architecture, preset, tuple(additions))


def check_names(names: Sequence[EntrantName], seeds: int, unit: str) -> None:
    """Checks everything that depends on the other names, on the number of seeds and on the text unit."""
    texts = [name.text for name in names]
    twice = next((name for name in names if texts.count(name.text) > 1), None)
    if twice is not None:
        presets = f", or with presets: {twice.architecture}:tiny" if twice.is_neural else ""
        raise InputError(f"models has {twice.text} twice; name each model once{presets}", parameter="models")
    plain = [name.text for name in names if name.is_neural and not name.additions]
    for name in names:
        if "ensemble" in name.additions and seeds < 2:
            raise InputError(f"{name.text} needs two seeds or more, but seeds is {seeds}", parameter="seeds")
        if "posunk" in name.additions and unit != "word":
            raise InputError(f"{name.text} needs words as tokens, but text.unit is {unit}; set it to word")
        if name.text == ENSEMBLE and len(plain) < 2:
            found = f"only {plain[0]}" if plain else "none"
            raise InputError(
                f"ensemble needs two plain neural models or more, but there is {found}; "
                "try rnn-attention,transformer,ensemble",
                parameter="models",
            )
