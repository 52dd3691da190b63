"""`regard doctor` from end to end: the machine, the data, the run in small, and what to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.console import Console
from rich.status import Status

from regard.doctor.advice import Advice, advise
from regard.doctor.examine import examine
from regard.doctor.machine import look_at_machine
from regard.doctor.predict import predict
from regard.doctor.prepare import prepared
from regard.doctor.rehearse import rehearse
from regard.doctor.report import Report
from regard.recipe.recipe import Recipe

SAMPLE = 20_000  # pairs that languages and alignment are judged on
KILLED = (
    "the system killed the rehearsal, which it does where memory runs out; use --batch-tokens with half as many, a "
    "smaller --preset, or shorter sentences (--max-length)"
)


def check_up(recipe: Recipe, sample: int = SAMPLE, foresees: bool = True, console: Console | None = None) -> Report:
    """Everything about a recipe; nothing is written but caches."""
    console = console or Console(stderr=True)
    machine = look_at_machine(recipe.data)
    with console.status("looking at the data") as status:
        looked = examine(recipe.data, sample, telling(status))
    if not foresees:
        return Report(machine, looked)
    if looked.stops:
        return Report(machine, looked, unforeseen="training would refuse this data; mend it first")
    with prepared(recipe, looked.pairs["train"], console) as ready, console.status("rehearsing the run"):
        seen = rehearse(ready.recipe)
    if seen is None:
        return Report(machine, looked, None, (Advice(True, f"memory: {KILLED}"),), "there was not enough memory")
    seen = replace(seen, per_epoch=round(seen.per_epoch * ready.scale))
    found = predict(recipe, ready.corpus, seen)
    return Report(machine, looked, found, tuple(advise(recipe, ready.corpus, found, machine)))


def telling(status: Status) -> Callable[[str, int], None]:
    def tell(what: str, count: int) -> None:
        status.update(f"{what}: {count:,} pairs" if count else what)

    return tell
