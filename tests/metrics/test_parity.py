"""The whole of it against sacreBLEU: every system, tokenizer and smoothing, corpora and single lines, one reference and
four. Minutes long, and on data that is not part of the project: `pytest -m slow -s tests/metrics/test_parity.py`."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from regard.metrics.bleu import SMOOTHING, Bleu

DATA = Path(__file__).parents[3] / "shared" / "data"
WMT17, MULTEVAL = DATA / "wmt17-en-de-systems", DATA / "multeval-example"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not WMT17.exists(), reason="the outside data is not here")]


def read(path: Path) -> list[str]:
    return lzma.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]


def largest_difference(hypotheses: list[str], references: list[list[str]], tokenize: str, lowercase: bool) -> float:
    """Over all smoothings; of the corpus and of each line, with and without effective order."""
    worst = 0.0
    counted = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)._extract_corpus_statistics(
        hypotheses, references
    )
    for smooth in SMOOTHING:
        for effective in (False, True):
            ours = Bleu(tokenize, lowercase, smooth, effective_order=effective)
            stats = ours.stats(hypotheses, references)
            theirs = BLEU(tokenize=tokenize, lowercase=lowercase, smooth_method=smooth, effective_order=effective)
            whole = theirs._aggregate_and_compute([row[:] for row in counted])
            lines = [theirs._compute_score_from_stats(row[:]).score for row in counted]
            worst = max(
                worst, abs(ours.score(stats).score - whole.score), np.abs(ours.scores(stats.rows) - lines).max()
            )
    return worst


@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char", "none"])
def test_every_system_of_wmt17(tokenize):
    reference = [read(WMT17 / "newstest2017.reference.de.xz")]
    systems = sorted(WMT17.glob("newstest2017.*.en-de.xz"))
    assert len(systems) == 16
    worst = max(largest_difference(read(path), reference, tokenize, lowercase=False) for path in systems)
    print(f"\nWMT17, 16 systems, {tokenize}: largest difference {worst:.2e}")
    assert worst < 1e-9


@pytest.mark.parametrize("tokenize", ["13a", "intl", "none"])
def test_several_references(tokenize):
    references = [read(MULTEVAL / f"set1_set1.ref{i}.xz") for i in range(4)]
    worst = max(
        largest_difference(read(MULTEVAL / f"set1_set1.out.{i}.xz"), references[:n], tokenize, lowercase)
        for i in range(4)
        for n in (1, 2, 4)
        for lowercase in (False, True)
    )
    print(f"\nfour systems, 1, 2 and 4 references, {tokenize}: largest difference {worst:.2e}")
    assert worst < 1e-9


@pytest.mark.parametrize("tokenize", ["13a", "intl"])
def test_public_functions_line_by_line(tokenize):
    """The same through sacreBLEU's public functions, for one system."""
    hypotheses, reference = read(WMT17 / "newstest2017.xmu.4910.en-de.xz"), read(WMT17 / "newstest2017.reference.de.xz")
    theirs, ours = BLEU(tokenize=tokenize, effective_order=True), Bleu(tokenize, effective_order=True)
    lines = [theirs.sentence_score(h, [r]).score for h, r in zip(hypotheses, reference, strict=True)]
    assert np.abs(ours.scores(ours.stats(hypotheses, reference).rows) - lines).max() < 1e-9
