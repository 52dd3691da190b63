"""The confidence of words: a fit finds what made the data, and what a card holds is read."""

from __future__ import annotations

import numpy as np
import pytest

from regard.bundle.card import WordCalibration, read_card
from regard.errors import RecipeError
from regard.explain.word_confidence import (
    FEATURES,
    fit_word_calibration,
    in_reference,
    word_confidences,
    word_features,
)
from regard.translation.confidence import bins, calibration_error

CALIBRATION = WordCalibration(dict(zip(FEATURES, (-0.6, -0.1, -0.2, -0.3, 0.1), strict=True)), 0.5, "made up")


def sentences(count: int) -> list[tuple[list[str], list[float]]]:
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 12, count)
    return [(["x" * int(n) for n in rng.integers(1, 9, w)], (-rng.exponential(0.7, w)).tolist()) for w in lengths]


def test_the_fit_is_calibrated_on_other_words() -> None:
    rng = np.random.default_rng(2)

    def drawn(count: int) -> tuple[np.ndarray, list[bool], list[tuple[list[str], list[float]]]]:
        made = sentences(count)
        truth = np.concatenate([word_confidences(*one, CALIBRATION) for one in made])
        features = np.concatenate([word_features(*one) for one in made])
        return features, (rng.random(len(truth)) < truth).tolist(), made

    features, right, _ = drawn(1500)
    found = fit_word_calibration([(features, right)], "drawn")
    _, others, made = drawn(800)
    fitted = np.concatenate([word_confidences(*one, found) for one in made])
    assert found.on == "drawn"
    assert calibration_error(bins(fitted, [float(one) for one in others])) < 0.03
    assert found.weights["surprise"] == pytest.approx(-0.6, abs=0.15)


def test_odd_numbers_stay_within_bounds() -> None:
    found = word_confidences(["a", "b", "c"], [float("nan"), -float("inf"), 0.0], CALIBRATION)
    assert ((found >= 0) & (found <= 1)).all()
    assert word_confidences([], [], CALIBRATION).shape == (0,)
    assert word_features(["alone"], [-0.5])[0, 1] == word_features(["alone"], [-0.5])[0, 0]


def test_each_word_of_a_reference_counts_once() -> None:
    assert in_reference(["le", "Le", "chat", "chat"], ["Le", "chat", "dort", "le"]) == [True, True, True, False]


def test_a_card_holds_it() -> None:
    stored = {"weights": {"surprise": -0.5}, "bias": 0.1, "on": "dev", "errors": {"test": 0.02}}
    assert read_card({"word_calibration": stored}).word_calibration == WordCalibration(**stored)  # type: ignore[arg-type]
    assert read_card({}).word_calibration is None
    with pytest.raises(RecipeError, match="must be a number"):
        read_card({"word_calibration": stored | {"bias": float("inf")}})
