"""Whole corpora: what is written, in which order, and that nothing depends on the number of processes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from regard.data import clean as module
from regard.data.clean import clean, length_deviations
from regard.data.clean_rules import CleanConfig, Row, Rule
from regard.data.overlap import HeldOutText
from regard.errors import InputError

ROWS: list[Row] = [(f"Sentence number {i} of the text.", f"Phrase numéro {i} du texte.") for i in range(40)]


class WordsInCommon:
    """Scores a pair by how many words its sides share."""

    def scores(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> np.ndarray:
        return np.array([len({*a} & {*b}) or np.nan for a, b in zip(sources, targets, strict=True)], np.float32)


def learn(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> WordsInCommon:
    assert list(pairs)
    return WordsInCommon()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_all_rules_together(tmp_path: Path) -> None:
    rows = [
        *ROWS,
        ("Sentence number 3, of the text", "phrase numéro 3 du texte"),
        ("Short.", "Une phrase qui est beaucoup trop longue pour être la traduction de ce mot."),
        ("Sentence\r\nnumber 99 of the text. ", " Phrase numéro 99\ndu texte."),
        ("Sentence number 50 and 51 here.", "Phrase numéro 50 et 51 là."),
    ]
    config = CleanConfig(check_language=False, least_score=1.5)
    held = HeldOutText.of(["sentence number 7 of the text"])
    report = clean(lambda: rows, tmp_path / "out", config, held, ("en", "fr"), learn=learn, workers=1)
    assert report.dropped == {Rule.HELD_OUT: 1, Rule.DUPLICATE: 1, Rule.LENGTHS: 1, Rule.LOOSE: 1 + 40 - 1}
    assert (report.read, report.kept) == (44, 1)
    report = clean(lambda: rows, tmp_path / "all", CleanConfig(check_language=False), held, ("en", "fr"), workers=1)
    english = (tmp_path / "all" / "train.en").read_text(encoding="utf-8").splitlines()
    assert english == [
        *(a for a, _ in ROWS[:7] + ROWS[8:]),
        "Sentence number 99 of the text.",
        "Sentence number 50 and 51 here.",
    ]
    stored = json.loads((tmp_path / "all" / "report.json").read_text(encoding="utf-8"))
    assert stored["kept"] == 41
    assert {rule["rule"]: rule["dropped"] for rule in stored["rules"] if rule["dropped"]} == {
        "held out": 1,
        "duplicate": 1,
        "lengths": 1,
    }
    assert "beaucoup trop longue" in (tmp_path / "all" / "report.txt").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "out"]  # nothing else is left


def test_the_number_of_processes_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 7)
    rows = [*ROWS, *ROWS[:9], ("", "x"), ("Same here", "same here")]
    for processes in (1, 2):
        out = tmp_path / str(processes)
        config, held = CleanConfig(check_language=False), HeldOutText.of([])
        clean(lambda: rows, out, config, held, ("en", "fr"), show=3, workers=processes)
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_one_language(tmp_path: Path) -> None:
    rows = [("A line of text.",), ("a line of TEXT",), ("Another line.",)]
    config, held = CleanConfig(check_language=False), HeldOutText.of(["Another line"])
    report = clean(lambda: rows, tmp_path / "out", config, held, ("en",), workers=1)
    assert report.dropped == {Rule.HELD_OUT: 1, Rule.DUPLICATE: 1}
    assert files(tmp_path / "out")["train.en"] == b"A line of text.\n"


def test_nothing_is_left_behind_by_a_failure(tmp_path: Path) -> None:
    def broken() -> Iterable[Row]:
        yield from ROWS
        raise InputError("the file ends here")

    with pytest.raises(InputError, match="ends here"):
        clean(broken, tmp_path / "out", CleanConfig(check_language=False), HeldOutText.of([]), (None, None), workers=1)
    assert not list(tmp_path.iterdir())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(InputError, match="already exists"):
        clean(lambda: ROWS, tmp_path / "out", CleanConfig(), HeldOutText.of([]), (None, None), workers=1)
    with pytest.raises(InputError, match="both sides are said to be in en"):
        clean(lambda: ROWS, tmp_path / "new", CleanConfig(), HeldOutText.of([]), ("en", "en"), workers=1)


def test_lengths_by_the_corpus_own_ratio_and_deviation() -> None:
    rng = np.random.default_rng(1)
    source = rng.integers(20, 200, 5000).astype(float)
    target = 1.2 * source + 2.0 * np.sqrt(source) * rng.standard_normal(5000)
    z, ratio, deviation = length_deviations(source, target)
    assert ratio == pytest.approx(1.2, abs=0.02)
    assert deviation == pytest.approx(2.0, abs=0.15)
    assert np.std(z) == pytest.approx(1, abs=0.1)
    outlier, _, _ = length_deviations(np.append(source, 100), np.append(target, 400))
    assert outlier[-1] > 8
