"""Running a comparison: what every entrant needs is learnt (`learn.py`), then it translates the same test.

An entrant that is done is skipped and what was interrupted goes on, so the same command can be given again after a
crash or a night. What is known of a finished entrant lies in its folder in `compared.json`. A folder that belongs to
another recipe is never taken for a result of this one.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from rich.console import Console

from regard.align.wordbased import WordBased
from regard.compare.entrants import Entrant, NeuralSystem, RuleBasedSystem, TrainingRun, WordBasedSystem
from regard.compare.learn import LEARNT, WORDS, LearningCost, learn_lexicon_of, learn_run, learn_words, recipe_file
from regard.config import differences
from regard.data.corpus import DataConfig, read_pairs
from regard.data.splits import find_splits
from regard.decode.steer import RuleSystem
from regard.decode.token_lexicon import TokenLexicon
from regard.decode.translate import Translator
from regard.errors import InputError, RunError
from regard.files import write_atomically
from regard.recipe.read import recipe_from_tables
from regard.training.evaluate import HeldOut

DONE = "compared.json"
STEER, RULES = 0.2, 0.5  # weights of "+lexicon" and "+rules" in every step
FREE = ("train.device", "data.cache", "train.log_every", "train.save_every")  # they change no result worth the name


@dataclass(frozen=True)
class EntrantResult:
    """One finished entrant: what it said, and what it cost."""

    model: str  # its name
    seed: int | None
    translations: list[str]  # of the test
    translating: float  # seconds
    cost: LearningCost
    learning_rate: float | None = None
    note: str = ""  # what the reader of the report must know of it


def read_test(data: DataConfig) -> HeldOut:
    files = find_splits(data).test
    if files is None:
        raise InputError("a comparison needs a test: give --test-src FILE --test-tgt FILE, or name them in the recipe")
    pairs = list(read_pairs(files))
    return HeldOut([s for s, _ in pairs], [t for _, t in pairs])


# ------------------------------------------------------------------------------------------------ all of them


def run_all(entrants: Sequence[Entrant], test: HeldOut, console: Console, rules: RuleSystem) -> list[EntrantResult]:
    results = []
    for number, entrant in enumerate(entrants, start=1):
        where = f"{number} of {len(entrants)}: {entrant}"
        done = entrant.folder / DONE
        if done.exists():
            console.print(f"{where}: done before", highlight=False)
            stored = json.loads(done.read_text(encoding="utf-8"))
            results.append(EntrantResult(**{**stored, "cost": LearningCost(**stored["cost"])}))
            continue
        console.rule(f"[bold]{where}", align="left")
        entrant.folder.parent.mkdir(parents=True, exist_ok=True)
        results.append(run_one(entrant, test, console, rules))
        keep(entrant, results[-1])
    return results


def check(entrants: Sequence[Entrant], test: HeldOut, rules: RuleSystem) -> None:
    """What can be known before hours of training."""
    check_grammar(entrants, test, rules)
    for entrant in entrants:
        check_recipes(entrant)


def check_grammar(entrants: Sequence[Entrant], test: HeldOut, rules: RuleSystem, tried: int = 100) -> None:
    """The grammar knows nothing but the embedded corpus."""
    name = next((entrant.name for entrant in entrants if entrant.needs_grammar), None)
    if name is not None and all(rules(line) is None for line in islice(test.sources, tried)):
        raise InputError(
            f"{name} needs sentences of the embedded corpus, but its grammar can read none of the test's first "
            f"{min(tried, len(test.sources))}; leave {name} out of --models"
        )


def check_recipes(entrant: Entrant) -> None:
    runs = entrant.system.runs() if isinstance(entrant.system, NeuralSystem) else []
    for folder, recipe in [(run.folder, run.recipe) for run in runs] + [(entrant.folder, entrant.recipe)]:
        kept = recipe_file(folder)
        if not (folder.exists() and kept.exists()):
            continue
        before = recipe_from_tables(tomllib.loads(kept.read_text(encoding="utf-8")))
        changes = [change for change in differences(before, recipe) if change[0] not in FREE]
        if changes:
            key, old, new = changes[0]
            raise RunError(
                f"{folder} was made with {key} = {old}, but now it is {new}; "
                f"choose another folder with --out, or remove that one"
            )


def keep(entrant: Entrant, result: EntrantResult) -> None:
    entrant.folder.mkdir(parents=True, exist_ok=True)
    recipe, said = entrant.recipe.to_toml(), json.dumps(asdict(result), ensure_ascii=False, indent=1)
    write_atomically(recipe_file(entrant.folder), lambda path: path.write_text(recipe, encoding="utf-8"))
    write_atomically(entrant.folder / DONE, lambda path: path.write_text(said, encoding="utf-8"))


# ------------------------------------------------------------------------------------------------ one of them


def run_one(entrant: Entrant, test: HeldOut, console: Console, rules: RuleSystem) -> EntrantResult:
    match entrant.system:
        case NeuralSystem() as system:
            return run_neural(entrant, system, test, console, rules)
        case WordBasedSystem():
            cost = learn_words(entrant.recipe.data, entrant.folder)
            translator = WordBased.load(entrant.folder / WORDS)
            began = time.monotonic()
            return EntrantResult(entrant.name, None, translator.translate(test.sources), _since(began), cost)
        case RuleBasedSystem():
            began = time.monotonic()
            said = [rules(line) for line in test.sources]
            lines = [line or "" for line in said]
            note = grammar_read(said) + ("; the others are empty lines" if None in said else "")
            return EntrantResult(entrant.name, None, lines, _since(began), LearningCost(0.0), note=note)


def run_neural(
    entrant: Entrant, system: NeuralSystem, test: HeldOut, console: Console, rules: RuleSystem
) -> EntrantResult:
    runs, additions = system.runs(), system.additions
    costs = {run.folder: learn_one(run, entrant, console) for run in runs}
    translator = Translator.load([member.folder for member in system.members], entrant.recipe.train.device)
    cost = added(list(costs.values()), parameters=sum(costs[m.folder].parameters or 0 for m in system.members))
    if "lexicon" in additions or "posunk" in additions:
        shared = entrant.folder.with_name("lexicon")
        learning = learn_lexicon_of(entrant.recipe.data, runs[0].folder, shared)
        translator.lexicon = TokenLexicon.load(shared, translator.tokenizer)
        cost = replace(cost, aligning=learning.seconds)
    translator.rule_system = rules
    began = time.monotonic()
    said = translator.translate(
        test.sources,
        steer=STEER if "lexicon" in additions else 0.0,
        rules=RULES if "rules" in additions else 0.0,
        unknown="lexicon" if "posunk" in additions else "keep",
    )
    took = _since(began)
    rates = {run.recipe.train.learning_rate for run in system.members}
    return EntrantResult(
        model=entrant.name,
        seed=entrant.seed,
        translations=[one.text for one in said],
        translating=took,
        cost=cost,
        learning_rate=rates.pop() if len(rates) == 1 else None,
        note=note_of(system, costs, test, rules),
    )


def learn_one(run: TrainingRun, entrant: Entrant, console: Console) -> LearningCost:
    if run.folder != entrant.folder and not (run.folder / LEARNT).exists():
        console.print(f"{entrant.name} needs {run.name}, seed {run.seed}", highlight=False)
    return learn_run(run)


def added(costs: Sequence[LearningCost], parameters: int) -> LearningCost:
    """All runs together; memory is that of the largest."""
    return LearningCost(
        seconds=sum(one.seconds for one in costs),
        peak_bytes=max((one.peak_bytes for one in costs if one.peak_bytes), default=None),
        flops=sum(one.flops or 0 for one in costs),
        steps=sum(one.steps or 0 for one in costs),
        target_tokens=sum(one.target_tokens or 0 for one in costs),
        parameters=parameters,
    )


def note_of(system: NeuralSystem, costs: Mapping[Path, LearningCost], test: HeldOut, rules: RuleSystem) -> str:
    parts = []
    if system.members[0].after is not None:
        parts.append(f"updates for reward: {costs[system.members[0].folder].steps:,}")
    if "lexicon" in system.additions:
        parts.append(f"the lexicon has weight {STEER:g}")
    if "rules" in system.additions:
        parts.append(f"the grammar has weight {RULES:g} and {grammar_read([rules(line) for line in test.sources])}")
    return "; ".join(parts)


def grammar_read(said: Sequence[str | None]) -> str:
    return f"read {sum(line is not None for line in said):,} of {len(said):,} sentences"


def _since(began: float) -> float:
    return round(time.monotonic() - began, 2)
