"""Runs claims in order. Finished results are read from the folder, new ones are written to it at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from regard.config import nearest
from regard.course.claims import (
    bleu_limits,
    bottleneck,
    causal_mask,
    decoding,
    faithfulness,
    heads,
    learning,
    plain_rnn,
    printed_figures,
    scaling,
    word_order,
)
from regard.course.claims.cache import JsonCache
from regard.course.claims.claim import Claim, ClaimResult
from regard.course.claims.experiment import ExperimentSetup
from regard.errors import InputError, RunError

ALL: tuple[Claim, ...] = (
    *scaling.CLAIMS,
    *word_order.CLAIMS,
    *causal_mask.CLAIMS,
    *heads.CLAIMS,
    *bottleneck.CLAIMS,
    *plain_rnn.CLAIMS,
    *learning.CLAIMS,
    *decoding.CLAIMS,
    *faithfulness.CLAIMS,
    *bleu_limits.CLAIMS,
    *printed_figures.CLAIMS,
)


@dataclass(frozen=True)
class TestedClaim:
    claim: Claim
    result: ClaimResult
    seconds: float  # of the experiment; a model that an earlier claim trained is not counted again


def choose(names: Sequence[str]) -> list[Claim]:
    known = {claim.name: claim for claim in ALL}
    for name in names:
        if name not in known:
            raise InputError(f'there is no claim "{name}"; {nearest(name, known)}')
    return [claim for claim in ALL if not names or claim.name in names]


def run_claims(claims: Sequence[Claim], out: Path, quick: bool, tell: Callable[[str], None]) -> list[TestedClaim]:
    check_folder(out, quick)
    setup, done = ExperimentSetup(out, quick, tell), JsonCache(out / "claims")
    tested = []
    for claim in claims:

        def test(claim: Claim = claim) -> dict[str, object]:
            tell(f"{claim.name}: {claim.statement}")
            began = time.monotonic()
            result = claim.test(setup)
            return {"seconds": round(time.monotonic() - began, 1), "finding": asdict(result)}

        stored = done.get(claim.name, test)
        tested.append(TestedClaim(claim, ClaimResult(**stored["finding"]), stored["seconds"]))
    return tested


def check_folder(out: Path, quick: bool) -> None:
    """Refuse to mix quick and full results, and to write into a folder with other files."""
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
