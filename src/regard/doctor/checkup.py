"""The whole check before a run: the machine, the data, a rehearsal and advice; its report as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.console import Console

from regard.doctor.examine import Examination, examine
from regard.doctor.findings import Finding
from regard.doctor.machine import Machine, read_machine
from regard.doctor.predict import Advice, Prediction, advise, gib, predict
from regard.doctor.prepare import prepared
from regard.doctor.rehearse import rehearse
from regard.recipe.recipe import Recipe

SAMPLE = 20_000  # pairs on which languages and alignment are judged
KILLED = (
    "the system killed the rehearsal, as it does when memory runs out; halve train.batch_tokens, use a smaller "
    "model.preset, or shorter sentences (data.max_length)"
)


def check_up(recipe: Recipe, sample: int = SAMPLE, predicts: bool = True, console: Console | None = None) -> Report:
    """Checks the machine and the data of a recipe, predicts its run and gives advice. Only caches are written."""
    console = console or Console(stderr=True)
    machine = read_machine(recipe.data)
    with console.status("examining the data") as status:
        examination = examine(
            recipe.data, sample, lambda count, what: status.update(f"{what}: {count:,} pairs" if count else what)
        )
    if not predicts:
        return Report(machine, examination)
    if examination.stops:
        return Report(machine, examination, unforeseen="training would refuse this data; correct it first")
    with prepared(recipe, examination.pairs["train"], console) as sample_run, console.status("rehearsing the run"):
        rehearsal = rehearse(sample_run.recipe)
    if rehearsal is None:
        return Report(machine, examination, None, (Advice(True, f"memory: {KILLED}"),), "there was not enough memory")
    rehearsal = replace(rehearsal, per_epoch=round(rehearsal.per_epoch * sample_run.scale))
    prediction = predict(recipe, sample_run.corpus, rehearsal)
    return Report(machine, examination, prediction, tuple(advise(recipe, sample_run.corpus, prediction, machine)))


NO_RECIPE = (
    "to check a corpus and foresee a run:  regard doctor --src a.en --tgt a.fr [--dev-src … --test-src …] "
    "[--KEY VALUE]…\nor with a recipe:                      regard doctor recipe.toml"
)


@dataclass(frozen=True)
class Report:
    machine: Machine
    examination: Examination | None = None
    prediction: Prediction | None = None
    advice: tuple[Advice, ...] = ()
    unforeseen: str | None = None  # why there is no prediction

    @property
    def serious(self) -> int:
        found = sum(found.serious for found in self.examination.findings) if self.examination else 0
        return found + sum(advice.serious for advice in self.advice)

    def to_dict(self) -> dict[str, Any]:
        examination = self.examination
        return {
            "machine": asdict(self.machine),
            "pairs": examination.pairs if examination else {},
            "findings": [asdict(found) for found in examination.findings] if examination else [],
            "prediction": self.prediction.to_dict() if self.prediction else None,
            "unforeseen": self.unforeseen,
            "advice": [asdict(advice) for advice in self.advice],
            "serious": self.serious,
        }


def as_text(report: Report, named: Callable[[str], str] = str) -> str:
    """Formats a report; `named` is applied to remedies and advice, which name recipe keys."""
    lines = machine_lines(report.machine)
    if report.examination is None:
        return "\n".join([*lines, "", NO_RECIPE])
    lines += ["", *data_lines(report.examination, named)]
    if report.prediction is not None:
        lines += ["", *prediction_lines(report.prediction)]
    if report.unforeseen is not None:
        lines += ["", f"prediction  none: {report.unforeseen}"]
    if report.advice:
        lines += ["", "advice"]
        lines += [f"  {'!' if advice.serious else '·'} {named(advice.message)}" for advice in report.advice]
    count = report.serious
    verdict = f"{count} serious finding{'s' * (count > 1)}, marked !" if count else "nothing serious was found"
    return "\n".join([*lines, "", verdict])


def machine_lines(machine: Machine) -> list[str]:
    total = gib(machine.memory_total or 0)
    memory = f"{gib(machine.memory_free)} free of {total}" if machine.memory_free else "not known"
    devices = [f"{d.name}, {gib(d.free)} free of {gib(d.total)}" if d.total else d.name for d in machine.devices]
    load = f", load {machine.load:.1f}" if machine.load is not None else ""
    threads = f"{machine.cores} cores, {machine.threads} thread{'s' * (machine.threads > 1)}{load}"
    disk = f"{gib(machine.disk_free)} free at {machine.cache}" if machine.disk_free is not None else "not known"
    return [
        "versions    " + ", ".join(f"{name} {number}" for name, number in machine.versions.items()),
        f"processor   {machine.processor}, {threads}, bfloat16: {machine.bfloat16}",
        f"memory      {memory}",
        f"devices     {'; '.join(devices) or 'no GPU'}",
        f"disk        {disk}",
    ]


def data_lines(examination: Examination, named: Callable[[str], str]) -> list[str]:
    pairs, sampled = examination.pairs, examination.sampled
    counts = ", ".join(f"{name} {count:,}" for name, count in pairs.items())
    judged = f"; languages and alignment judged on {sampled:,}" if sampled < pairs["train"] else ""
    lines = [line for found in examination.findings for line in finding_lines(found, named)]
    return [f"data        pairs: {counts}{judged}", *lines]


def finding_lines(found: Finding, named: Callable[[str], str]) -> list[str]:
    mark = "!" if found.serious else "·"
    lines = [f"  {mark} {found.part}, {found.name}: {found.message}"]
    width = max((len(place.where) for place in found.places), default=0)
    lines += [f"      {place.where:{width}}  {place.text}".rstrip() for place in found.places]
    return [*lines, f"      → {named(found.remedy)}"]


def prediction_lines(found: Prediction) -> list[str]:
    rehearsal, total = found.rehearsal, found.total
    each = {
        "updates": f"{found.steps:,} of {seconds(rehearsal.update.wall)} (± {max(0.01, 2 * rehearsal.noise):.0%})",
        "evaluations": f"{found.evaluations:,} of {seconds((rehearsal.evaluation + rehearsal.keeping).wall)}",
        "checkpoints": f"{found.checkpoints:,} of {seconds(rehearsal.saving.wall)}",
    }
    memory = gib(found.peak_bytes) if found.peak_bytes is not None else "not known here"
    where = f"{'bfloat16' if rehearsal.half else 'float32'} on {rehearsal.device}"
    batches = f"{rehearsal.target_tokens:,.0f} target tokens an update, {rehearsal.filled:.0%} filled"
    on_cpu = rehearsal.device == "cpu"  # on a busy machine the processor time is less than the wall time
    spent = f"{duration(total.processor)} of processor time" if on_cpu else "as the machine is now"
    work = f"{found.flops:.2g} FLOPs, {gib(found.disk)} on disk"
    lines = [
        f"prediction  {duration(total.wall)} ({spent}), {memory} of memory at the peak, {work}",
        f"  model     {rehearsal.parameters:,} parameters, {where}",
        f"  batches   {batches}, {found.epochs:,.1f} epochs",
    ]
    width = max(map(len, found.parts))
    for name, taken in found.parts.items():
        part = f"{seconds(taken.wall):>9}  {taken.wall / total.wall:4.0%}"
        lines.append(f"  {name:{width}}  {part}  {each.get(name, '')}".rstrip())
    return lines


def seconds(number: float) -> str:
    """
    >>> seconds(0.0312), seconds(42), seconds(4200)
    ('31 ms', '42.0 s', '4,200 s')
    """
    return f"{1000 * number:.0f} ms" if number < 1 else f"{number:,.1f} s" if number < 1000 else f"{number:,.0f} s"


def duration(number: float) -> str:
    """
    >>> duration(42), duration(4200), duration(100_000)
    ('42 s', '70 min', '27.8 h')
    """
    if number < 120:
        return f"{number:.0f} s"
    return f"{number / 60:.0f} min" if number < 7200 else f"{number / 3600:.1f} h"
