"""MBR against a plain reading of its formula with sacreBLEU's sentence scores."""

from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.search.engine import Hypothesis
from regard.search.mbr import expected_utilities, least_risk

WORDS = ["le", "chat", "noir", "dort", ".", "un", "chien"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=8)


@settings(deadline=None, max_examples=25)
@given(TEXTS, st.sampled_from(["chrf", "bleu"]))
def test_expected_utility_is_the_mean_over_all_samples(texts: list[str], utility: str) -> None:
    score = {"chrf": sacrebleu.sentence_chrf, "bleu": sacrebleu.sentence_bleu}[utility]
    wanted = [sum(score(text, [other]).score for other in texts) / len(texts) for text in texts]
    assert expected_utilities(texts, utility) == pytest.approx(wanted)  # type: ignore[arg-type]


def test_the_most_typical_sample_comes_first() -> None:
    texts = ["Un chien.", "Le chat noir dort.", "Le chat dort.", "Le chat noir dort."]
    drawn = [Hypothesis((i,), (-float(i),), -float(i)) for i in range(4)]
    found = least_risk(drawn, texts)
    assert [h.ids for h in found] == [(1,), (3,), (2,), (0,)]  # equal ones in the order of their draws
    assert [h.log_prob for h in found] == [-1, -3, -2, 0]
    assert found[0].score == found[1].score > found[2].score > found[3].score
