"""Runs claims in order. Finished results are read from the folder, new ones are written to it at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from regard.config import nearest
from regard.course.claims import bleu_limits, decoding, learning, printed_figures, rnn, transformer
from regard.course.claims.experiment import ClaimResult, ExperimentSetup, JsonCache, read_data
from regard.errors import InputError, RunError

Experiment = Callable[[ExperimentSetup], ClaimResult]
EXPERIMENTS: dict[str, Experiment] = {
    "scaling": transformer.test_saturation,
    "scaling-learning": transformer.test_training,
    "equivariant": transformer.test_equivariance,
    "positions": transformer.test_positions,
    "mask": transformer.test_mask,
    "heads": transformer.test_heads,
    "bottleneck": rnn.test_lengths,
    "gradient": rnn.test_gradient,
    "exploding": rnn.test_exploding,
    "training-steps": learning.test_steps,
    "parallel-training": learning.test_speed,
    "beam": decoding.test_beam,
    "parallel": decoding.test_parallel,
    "interpretability": transformer.test_interpretability,
    "bleu-synonyms": bleu_limits.test_synonyms,
    "bleu-order": bleu_limits.test_order,
    "bleu-judgement": bleu_limits.test_judgement,
    "notes-softmax": printed_figures.test_softmax,
    "notes-softmax-exercise": printed_figures.test_small_softmax,
    "notes-additive": printed_figures.test_additive,
    "notes-bigrams": printed_figures.test_bigrams,
    "notes-trigrams": printed_figures.test_trigrams,
    "notes-retrieval": printed_figures.test_retrieval,
    "notes-filter": printed_figures.test_filter,
}


@dataclass(frozen=True)
class Claim:
    """A claim of the notes; its texts are in `claims.toml`."""

    name: str
    test: Experiment
    statement: str
    experiment: str  # what is done
    criterion: str  # for "shown"


ALL = tuple(Claim(name, EXPERIMENTS[name], **texts) for name, texts in read_data("claims.toml").items())


@dataclass(frozen=True)
class TestedClaim:
    """A claim with the result of its experiment."""

    claim: Claim
    result: ClaimResult
    seconds: float  # of the experiment; a model that an earlier claim trained is not counted again


def choose(names: Sequence[str]) -> list[Claim]:
    """The claims with these names, or all, in order; InputError for an unknown name."""
    known = {claim.name: claim for claim in ALL}
    for name in names:
        if name not in known:
            raise InputError(f'there is no claim "{name}"; {nearest(name, known)}')
    return [claim for claim in ALL if not names or claim.name in names]


def run_claims(claims: Sequence[Claim], out: Path, quick: bool, tell: Callable[[str], None]) -> list[TestedClaim]:
    """Run the experiments, or read their stored results from the folder `out`; `tell` is called with each step."""
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
