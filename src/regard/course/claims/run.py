"""Tests claims in order. Finished results are read from the folder, new ones are written to it at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path

from regard.config import nearest
from regard.course.claims.experiment import ClaimResult, ExperimentSetup, JsonCache, read_data
from regard.errors import InputError, RunError

Experiment = Callable[[ExperimentSetup], ClaimResult]


@dataclass(frozen=True)
class Claim:
    """A claim of the notes; its texts are in `claims.toml`."""

    name: str
    test: Experiment
    statement: str
    experiment: str  # description of the experiment
    criterion: str  # criterion for "shown"
    remark: str = ""  # other observations, if they do not depend on the result


def _claim(name: str, test: str, **texts: str) -> Claim:
    """Makes a claim of `claims.toml`; `test` names the module of this folder and the function in it."""
    module, function = test.split(".")
    return Claim(name, getattr(import_module(f"regard.course.claims.{module}"), function), **texts)


ALL = tuple(_claim(name, **texts) for name, texts in read_data("claims.toml").items())


@dataclass(frozen=True)
class TestedClaim:
    """A claim with the result of its experiment."""

    claim: Claim
    result: ClaimResult
    seconds: float  # of the experiment; a model that an earlier claim trained is not counted again


def choose(names: Sequence[str]) -> list[Claim]:
    """Returns the claims with these names, or all, in order; raises InputError for an unknown name."""
    known = {claim.name: claim for claim in ALL}
    for name in names:
        if name not in known:
            raise InputError(f'there is no claim "{name}"; {nearest(name, known)}')
    return [claim for claim in ALL if not names or claim.name in names]


def run_claims(claims: Sequence[Claim], out: Path, quick: bool, tell: Callable[[str], None]) -> list[TestedClaim]:
    """Runs the experiments, or reads their stored results from the folder `out`; `tell` is called with each step."""
    check_folder(out, quick)
    setup, done = ExperimentSetup(out, quick, tell), JsonCache(out / "claims")
    tested = []
    for claim in claims:

        def test(claim: Claim = claim) -> dict[str, object]:
            tell(f"{claim.name}: {claim.statement}")
            began = time.monotonic()
            result = claim.test(setup)
            finding = asdict(replace(result, remark=result.remark or claim.remark))
            return {"seconds": round(time.monotonic() - began, 1), "finding": finding}

        stored = done.get(claim.name, test)
        tested.append(TestedClaim(claim, ClaimResult(**stored["finding"]), stored["seconds"]))
    return tested


def check_folder(out: Path, quick: bool) -> None:
    """Raises if quick and full results would be mixed, or if the folder has other files."""
    mark, wanted = out / "size.json", {"quick": quick}
    if mark.exists():
        if json.loads(mark.read_text(encoding="utf-8")) != wanted:
            raise RunError(
                f"{out} holds {'full' if quick else 'quick'} experiments; choose another folder", parameter="out"
            )
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out} already holds something else; choose another folder", parameter="out")
    JsonCache(out).get("size", lambda: wanted)
