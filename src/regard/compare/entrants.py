"""Who takes part in a comparison: what the names of --models mean.

    rnn  transformer:tiny     a neural model, an architecture or one of its presets; once for each seed
    rnn+rl  gnmt+rl+ensemble  what is done with it after training, in the order of ADDITIONS
    ensemble                  all plain neural models of the comparison, seed 1, speaking as one
    ibm  rules                no neural network: nothing depends on a seed, and no operations are counted

A name is read into one of three kinds of system. A neural one is the trained runs that speak together and what is added
while they translate; it costs what all its runs cost. This file reads names and knows no recipe (`plan.py`) and trains
nothing (`run.py`).
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
    "rules": "the embedded grammar reads English and writes French; for the embedded corpus only",
}
TOGETHER = "ensemble"
ADDITIONS = {  # a name has them in this order
    "rl": "trained on for reward, self-critical, from the run of the same seed; costs both",
    "lexicon": "a lexicon from the aligner is mixed into every step",
    "rules": "where the grammar can read a sentence, what it would say is preferred",
    "posunk": "unknown words are translated through the attention; needs --unit word",
    "ensemble": "all seeds speak as one; needs --seeds 2 or more",
}
WITHOUT_ATTENTION = ("rnn", "bytenet")


@dataclass(frozen=True)
class TrainingRun:
    """One run of `regard train`."""

    name: str  # rnn, rnn+rl
    seed: int
    recipe: Recipe
    folder: Path
    after: TrainingRun | None = None  # the run it starts from

    def runs(self) -> list[TrainingRun]:
        """All that must be trained for it, in order."""
        return [*(self.after.runs() if self.after else []), self]


@dataclass(frozen=True)
class NeuralSystem:
    members: tuple[TrainingRun, ...]
    additions: tuple[str, ...] = ()  # of lexicon, rules and posunk

    def runs(self) -> list[TrainingRun]:
        """All that must be trained for it, in order, each once."""
        found = {run.folder: run for member in self.members for run in member.runs()}
        return list(found.values())


@dataclass(frozen=True)
class WordBasedSystem:
    """`ibm`"""


@dataclass(frozen=True)
class RuleBasedSystem:
    """`rules`"""


@dataclass(frozen=True)
class Entrant:
    """One translator of the comparison; a row of the report is all entrants of one name."""

    name: str
    seed: int | None  # None: it stands for all seeds
    recipe: Recipe  # of its first member; of a system without a network only the data counts
    system: NeuralSystem | WordBasedSystem | RuleBasedSystem
    folder: Path

    def __str__(self) -> str:
        return self.name if self.seed is None else f"{self.name}, seed {self.seed}"

    @property
    def needs_grammar(self) -> bool:
        match self.system:
            case RuleBasedSystem():
                return True
            case WordBasedSystem():
                return False
            case NeuralSystem(additions=additions):
                return "rules" in additions


@dataclass(frozen=True)
class EntrantName:
    """A name taken apart."""

    text: str
    architecture: str  # or one of BASELINES, or TOGETHER
    preset: str
    additions: tuple[str, ...]

    @property
    def is_neural(self) -> bool:
        return self.architecture in ARCHITECTURES

    @property
    def model(self) -> str:
        """Without additions."""
        return self.text.split("+")[0]


def read_name(text: str) -> EntrantName:
    """
    >>> read_name("gnmt:small+rl+ensemble")
    EntrantName(text='gnmt:small+rl+ensemble', architecture='gnmt', preset='small', additions=('rl', 'ensemble'))
    """
    head, *additions = text.split("+")
    architecture, _, preset = head.partition(":")
    known = (*ARCHITECTURES, *BASELINES, TOGETHER)
    if architecture not in known:
        raise InputError(f'unknown model "{architecture}" in --models; {nearest(architecture, known)}')
    if architecture not in ARCHITECTURES and preset:
        raise InputError(f'"{text}" names a preset, but {architecture} has none; write {architecture}')
    for one in additions:
        if one not in ADDITIONS:
            raise InputError(f'unknown addition "+{one}" in --models {text}; {nearest(one, ADDITIONS)}')
        if architecture not in ARCHITECTURES:
            raise InputError(f'"{text}" cannot be: +{one} is for neural models, but {architecture} is none')
        if one == "posunk" and architecture in WITHOUT_ATTENTION:
            raise InputError(
                f'"{text}" cannot be: +posunk follows the attention, but {architecture} has none; '
                f"try rnn-attention+posunk"
            )
    ordered = [one for one in ADDITIONS if one in additions]
    if additions != ordered:
        raise InputError(f'"{text}" must be written {"+".join([head, *ordered])}')
    return EntrantName(text, architecture, preset, tuple(additions))


def check_names(names: Sequence[EntrantName], seeds: int, unit: str) -> None:
    """What each name alone does not show: how often, with how many seeds, and in what company."""
    texts = [name.text for name in names]
    twice = next((name for name in names if texts.count(name.text) > 1), None)
    if twice is not None:
        presets = f", or with presets: {twice.architecture}:tiny" if twice.is_neural else ""
        raise InputError(f"--models names {twice.text} twice; name each model once{presets}")
    plain = [name.text for name in names if name.is_neural and not name.additions]
    for name in names:
        if "ensemble" in name.additions and seeds < 2:
            raise InputError(f"{name.text} needs two seeds or more, but --seeds is {seeds}; try --seeds 2")
        if "posunk" in name.additions and unit != "word":
            raise InputError(f"{name.text} needs words as tokens, but the unit is {unit}; try --unit word")
        if name.text == TOGETHER and len(plain) < 2:
            said = f"only {plain[0]}" if plain else "none"
            raise InputError(
                f"ensemble needs two plain neural models or more in --models, but there is {said}; "
                f"try --models rnn-attention,transformer,ensemble"
            )
