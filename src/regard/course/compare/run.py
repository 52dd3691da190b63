"""Runs a comparison: trains the models of each entrant (`learn.py`), then translates the same test with each.

Finished entrants are skipped and interrupted trainings resume, so the same comparison can be started again after a
crash. The result of an entrant is stored in its folder as `compared.json`. A folder that was made with another recipe
is an error.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from rich.console import Console

from regard.config import differences
from regard.course.compare import learn
from regard.course.compare.entrants import Entrant, NeuralSystem, TrainingRun
from regard.course.compare.learn import LearningCost
from regard.course.phrases.phrase_based import PhraseBased
from regard.course.word_based import WordBased
from regard.data.config import DataConfig
from regard.data.corpus import read_pairs
from regard.data.splits import find_splits
from regard.errors import InputError, RunError
from regard.files import write_atomically
from regard.recipe.read import read_tables, recipe_from_tables
from regard.search.options import BATCH_TOKENS
from regard.search.steering import RuleSystem
from regard.search.token_lexicon import TokenLexicon
from regard.training.evaluate import HeldOut
from regard.translation.options import AS_LINES
from regard.translation.translator import TextTranslator

DONE = "compared.json"
STEER, RULES = 0.2, 0.5  # weights of "+lexicon" and "+rules" in every step
FREE = ("train.device", "data.cache", "train.log_every", "train.save_every")  # keys that do not affect the result
TRIED = 100  # test sentences on which the rules are tried before training


@dataclass(frozen=True)
class EntrantResult:
    """The translations and the cost of one finished entrant."""

    model: str  # its name
    seed: int | None
    translations: list[str]  # of the test
    translating: float  # seconds
    cost: LearningCost
    learning_rate: float | None = None
    note: str = ""  # for the reader of the report


def read_test(data: DataConfig) -> HeldOut:
    """Reads the test set of a recipe; raises InputError if it names none."""
    files = find_splits(data).test
    if files is None:
        raise InputError(
            "a comparison needs a test; name its files as data.test_src and data.test_tgt, or as data.test_pairs"
        )
    pairs = list(read_pairs(files))
    return HeldOut([s for s, _ in pairs], [t for _, t in pairs])


@dataclass(frozen=True)
class Comparison:
    """The test that all entrants translate, the rules for those that use them, the console for progress, and the
    maximum source tokens that a network translates at a time."""

    test: HeldOut
    rules: RuleSystem
    console: Console
    batch_tokens: int = BATCH_TOKENS

    def check(self, entrants: Sequence[Entrant]) -> None:
        """Raises errors that can be detected before hours of training."""
        name = next((entrant.name for entrant in entrants if entrant.needs_rules), None)
        if name is not None and all(self.rules(line) is None for line in islice(self.test.sources, TRIED)):
            raise InputError(
                f"{name} needs a test that the rules can parse, but they can parse none of its first "
                f"{min(TRIED, len(self.test.sources))} sentences; leave {name} out",
                parameter="models",
            )
        for entrant in entrants:
            check_recipes(entrant)

    def run(self, entrants: Sequence[Entrant]) -> list[EntrantResult]:
        """Trains and translates with every entrant that has no stored result."""
        return [
            self._run_or_read(entrant, f"{number} of {len(entrants)}: {entrant}")
            for number, entrant in enumerate(entrants, start=1)
        ]

    def _run_or_read(self, entrant: Entrant, title: str) -> EntrantResult:
        done = entrant.folder / DONE
        if done.exists():
            self.console.print(f"{title}: done before", highlight=False)
            return self._read(entrant)
        self.console.rule(f"[bold]{title}", align="left")
        entrant.folder.parent.mkdir(parents=True, exist_ok=True)
        result = self._run(entrant)
        store(entrant, result, self._texts(entrant))
        return result

    def _read(self, entrant: Entrant) -> EntrantResult:
        """Reads the stored result of an entrant; raises if it is of another text."""
        done, now = entrant.folder / DONE, self._texts(entrant)
        try:
            stored = json.loads(done.read_text(encoding="utf-8"))
            before = {name: stored.pop(name) for name in now}
            result = EntrantResult(**{**stored, "cost": LearningCost(**stored["cost"])})
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
            raise RunError(f"{done} cannot be read ({problem}); remove it and run the same command again") from None
        for name, fingerprint in now.items():
            if fingerprint not in (None, before[name]):
                raise RunError(
                    f"{done} is of other {name} than there is now; choose another folder, or remove {entrant.folder}"
                )
        return result

    def _texts(self, entrant: Entrant) -> dict[str, str | None]:
        """Returns fingerprints of the text that a result depends on."""
        test = hashlib.blake2b(repr((self.test.sources, self.test.references)).encode(), digest_size=12).hexdigest()
        return {"test text": test, "training data": learn.data_fingerprint(entrant.recipe.data)}

    def _run(self, entrant: Entrant) -> EntrantResult:
        if entrant.system is not None:
            return self._run_neural(entrant, entrant.system)
        if entrant.name == "rules":
            began = time.monotonic()
            found = [self.rules(line) for line in self.test.sources]
            lines = [line or "" for line in found]
            note = parsed_share(found) + ("; the others are empty lines" if None in found else "")
            return EntrantResult(entrant.name, None, lines, _since(began), LearningCost(0.0), note=note)
        translator: WordBased | PhraseBased
        if entrant.name == "ibm":
            cost = learn.learn_words(entrant.recipe.data, entrant.folder)
            translator = WordBased.load(entrant.folder / learn.WORDS)
        else:
            cost = learn.learn_phrases(entrant.recipe.data, entrant.folder)
            translator = PhraseBased.load(entrant.folder / learn.PHRASES)
        began = time.monotonic()
        return EntrantResult(entrant.name, None, translator.translate(self.test.sources), _since(began), cost)

    def _run_neural(self, entrant: Entrant, system: NeuralSystem) -> EntrantResult:
        runs, additions = system.runs(), system.additions
        costs = {run.folder: self._train(run, entrant) for run in runs}
        translator = TextTranslator.load(
            [member.folder for member in system.members], entrant.recipe.train.device, "native"
        )
        cost = total_cost(list(costs.values()), sum(costs[m.folder].parameters or 0 for m in system.members))
        if "lexicon" in additions or "posunk" in additions:
            shared = entrant.folder.with_name("lexicon")
            learning = learn.learn_token_lexicon(entrant.recipe.data, runs[0].folder, shared)
            translator.lexicon = TokenLexicon.load(shared, translator.tokenizer)
            cost = replace(cost, aligning=learning.seconds)
        translator.rule_system = self.rules
        began = time.monotonic()
        translations = translator.translate(
            self.test.sources,
            steer=STEER if "lexicon" in additions else 0.0,
            rules=RULES if "rules" in additions else 0.0,
            unknown="lexicon" if "posunk" in additions else "keep",
            batch_tokens=self.batch_tokens,
            **AS_LINES,
        )
        seconds = _since(began)
        rates = {run.recipe.train.learning_rate for run in system.members}
        return EntrantResult(
            model=entrant.name,
            seed=entrant.seed,
            translations=[one.text for one in translations],
            translating=seconds,
            cost=cost,
            learning_rate=rates.pop() if len(rates) == 1 else None,
            note=self._note(system, costs),
        )

    def _train(self, run: TrainingRun, entrant: Entrant) -> LearningCost:
        if run.folder != entrant.folder and not (run.folder / learn.LEARNT).exists():
            self.console.print(f"{entrant.name} needs {run.name}, seed {run.seed}", highlight=False)
        return learn.learn_run(run)

    def _note(self, system: NeuralSystem, costs: Mapping[Path, LearningCost]) -> str:
        parts = []
        if system.members[0].after is not None:
            parts.append(f"updates for reward: {costs[system.members[0].folder].steps:,}")
        if "lexicon" in system.additions:
            parts.append(f"the lexicon has weight {STEER:g}")
        if "rules" in system.additions:
            parsed = parsed_share([self.rules(line) for line in self.test.sources])
            parts.append(f"the rules have weight {RULES:g} and {parsed}")
        return "; ".join(parts)


def check_recipes(entrant: Entrant) -> None:
    """Raises if an existing folder was made with another recipe."""
    runs = entrant.system.runs() if entrant.system is not None else []
    for folder, recipe in [(run.folder, run.recipe) for run in runs] + [(entrant.folder, entrant.recipe)]:
        stored = learn.recipe_file(folder)
        if not (folder.exists() and stored.exists()):
            continue
        before = recipe_from_tables(read_tables(stored))
        changes = [change for change in differences(before, recipe) if change[0] not in FREE]
        if changes:
            key, old, new = changes[0]
            raise RunError(
                f"{folder} was made with {key} = {old}, but now it is {new}; choose another folder or remove that one",
                parameter="out",
            )


def store(entrant: Entrant, result: EntrantResult, texts: Mapping[str, str | None]) -> None:
    """Writes the result of an entrant, with its recipe, into its folder."""
    entrant.folder.mkdir(parents=True, exist_ok=True)
    recipe, text = entrant.recipe.to_toml(), json.dumps({**asdict(result), **texts}, ensure_ascii=False, indent=1)
    write_atomically(learn.recipe_file(entrant.folder), lambda path: path.write_text(recipe, encoding="utf-8"))
    write_atomically(entrant.folder / DONE, lambda path: path.write_text(text, encoding="utf-8"))


def total_cost(costs: Sequence[LearningCost], parameters: int) -> LearningCost:
    """Sums the costs of all runs; memory is that of the largest."""
    return LearningCost(
        seconds=sum(one.seconds for one in costs),
        peak_bytes=max((one.peak_bytes for one in costs if one.peak_bytes), default=None),
        flops=sum(one.flops or 0 for one in costs),
        steps=sum(one.steps or 0 for one in costs),
        target_tokens=sum(one.target_tokens or 0 for one in costs),
        parameters=parameters,
    )


def parsed_share(translations: Sequence[str | None]) -> str:
    """Formats the number of sentences that the rules could parse."""
    return f"read {sum(line is not None for line in translations):,} of {len(translations):,} sentences"


def _since(began: float) -> float:
    return round(time.monotonic() - began, 2)
