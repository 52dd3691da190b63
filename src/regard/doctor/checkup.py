"""The whole examination: the machine, the data, a rehearsal of the run, and advice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.console import Console
from rich.status import Status

from regard.doctor.advice import Advice, advise
from regard.doctor.examine import examine
from regard.doctor.machine import read_machine
from regard.doctor.predict import predict
from regard.doctor.prepare import prepared
from regard.doctor.rehearse import rehearse
from regard.doctor.report import Report
from regard.recipe.recipe import Recipe

SAMPLE = 20_000  # pairs that languages and alignment are judged on
KILLED = (
    "the system killed the rehearsal, as it does when memory runs out; halve train.batch_tokens, use a smaller "
    "model.preset, or shorter sentences (data.max_length)"
)


def check_up(recipe: Recipe, sample: int = SAMPLE, predicts: bool = True, console: Console | None = None) -> Report:
    """Everything about a recipe; nothing is written but caches."""
    console = console or Console(stderr=True)
    machine = read_machine(recipe.data)
    with console.status("examining the data") as status:
        looked = examine(recipe.data, sample, progress_on(status))
    if not predicts:
        return Report(machine, looked)
    if looked.stops:
        return Report(machine, looked, unforeseen="training would refuse this data; correct it first")
    with prepared(recipe, looked.pairs["train"], console) as ready, console.status("rehearsing the run"):
        seen = rehearse(ready.recipe)
    if seen is None:
        return Report(machine, looked, None, (Advice(True, f"memory: {KILLED}"),), "there was not enough memory")
    seen = replace(seen, per_epoch=round(seen.per_epoch * ready.scale))
    found = predict(recipe, ready.corpus, seen)
    return Report(machine, looked, found, tuple(advise(recipe, ready.corpus, found, machine)))


def progress_on(status: Status) -> Callable[[str, int], None]:
    def show(what: str, count: int) -> None:
        status.update(f"{what}: {count:,} pairs" if count else what)

    return show
