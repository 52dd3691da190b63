"""All claims in order: those that are done are read, the others are tested and kept at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from regard.config import nearest
from regard.course.claims import bottleneck, faith, future, heads, order, printed, scaling, search
from regard.course.claims.claim import Claim, Finding
from regard.course.claims.kept import Kept
from regard.course.claims.learning import School
from regard.errors import InputError, RunError

ALL: tuple[Claim, ...] = (
    *scaling.CLAIMS,
    *order.CLAIMS,
    *future.CLAIMS,
    *heads.CLAIMS,
    *bottleneck.CLAIMS,
    *search.CLAIMS,
    *faith.CLAIMS,
    *printed.CLAIMS,
)


@dataclass(frozen=True)
class Tested:
    claim: Claim
    finding: Finding
    seconds: float  # of the run that finished it; what was trained before counts there


def choose(names: Sequence[str]) -> list[Claim]:
    known = {claim.name: claim for claim in ALL}
    for name in names:
        if name not in known:
            raise InputError(f'there is no claim "{name}"; {nearest(name, known)}')
    return [claim for claim in ALL if not names or claim.name in names]


def run_claims(claims: Sequence[Claim], out: Path, quick: bool, tell: Callable[[str], None]) -> list[Tested]:
    check_folder(out, quick)
    school, done = School(out, quick, tell), Kept(out / "claims")
    tested = []
    for claim in claims:

        def test(claim: Claim = claim) -> dict[str, object]:
            tell(f"{claim.name}: {claim.says}")
            began = time.monotonic()
            finding = claim.test(school)
            return {"seconds": round(time.monotonic() - began, 1), "finding": asdict(finding)}

        kept = done.get(claim.name, test)
        tested.append(Tested(claim, Finding(**kept["finding"]), kept["seconds"]))
    return tested


def check_folder(out: Path, quick: bool) -> None:
    """Quick figures must not be taken for others, nor another folder's files for ours."""
    mark, wanted = out / "size.json", {"quick": quick}
    if mark.exists():
        if json.loads(mark.read_text(encoding="utf-8")) != wanted:
            raise RunError(f"{out} holds {'full' if quick else 'quick'} experiments; choose another folder with --out")
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out} already holds something else; choose another folder with --out")
    Kept(out).get("size", lambda: wanted)
