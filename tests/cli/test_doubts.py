"""What is said of marked sentences: one line, a report with a line for each sentence, and the exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from regard.bulk.rows import sentence_row
from regard.cli.doubts import DoubtReport
from regard.errors import InputError
from regard.translation.translation import ProtectedSpan, Reason, SentenceTranslation, Translation

FINE = SentenceTranslation("a", "b", (0, 1), (0, 1), "a", confidence=0.87654321)
LOST = ProtectedSpan("42", "number", "42", (2, 4), None, "missing", "missing from the search's output")
ODD = SentenceTranslation(
    "a 42",
    "b",
    (0, 4),
    (0, 1),
    "a 42",
    confidence=0.1,
    reasons=(Reason("loop", "It says b twice."),),
    protected=(LOST,),
)
PERHAPS = SentenceTranslation("a", "c", (0, 1), (0, 1), "a", reasons=(Reason("negation", "No not.", "check"),))


def said(*sentences: SentenceTranslation) -> Translation:
    return Translation("a", "b", 0.0, 0.0, (), sentences)


def summary(numbers: list[int], count: int, report: Path | None = None) -> str:
    doubts = DoubtReport(report)
    for number in range(1, count + 1):
        doubts.add(f"line {number}", said(ODD if number in numbers else FINE))
    return doubts.summary()


def test_the_summary_names_the_lines() -> None:
    assert summary([4, 17, 31], 40) == "3 doubtful, of 40 sentences: lines 4, 17, 31; --report why.jsonl says why"
    assert summary([2], 3) == "1 doubtful, of 3 sentences: line 2: It says b twice."
    assert summary([1], 1) == "1 doubtful, of 1 sentence: line 1: It says b twice."
    many = summary(list(range(1, 13)), 1200)
    assert many.startswith("12 doubtful, of 1,200 sentences: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more; ")


def test_the_summary_names_the_report(tmp_path: Path) -> None:
    assert summary([1, 2], 2, tmp_path / "r.jsonl").endswith(f"lines 1, 2; {tmp_path / 'r.jsonl'} says why")


def test_two_doubtful_sentences_of_one_line_are_one_place() -> None:
    doubts = DoubtReport()
    doubts.add("line 7", said(ODD, FINE, ODD))
    assert doubts.summary() == "2 doubtful, of 3 sentences: line 7; --report why.jsonl says why"


def test_the_summary_counts_both_marks() -> None:
    doubts = DoubtReport()
    doubts.add("line 1", said(PERHAPS, ODD, PERHAPS))
    assert doubts.summary() == "1 doubtful, 2 to check, of 3 sentences: line 1; --report why.jsonl says why"
    both = replace(ODD, reasons=(*PERHAPS.reasons, *ODD.reasons))
    assert (PERHAPS.mark, both.mark, FINE.mark) == ("check", "doubtful", None)
    assert said(PERHAPS, ODD, FINE).marked == (PERHAPS, ODD)
    assert said(PERHAPS, ODD, FINE).doubtful == (ODD,)


def test_the_report_has_every_sentence_and_appears_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    doubts = DoubtReport(path)
    doubts.add("line 1", said(FINE, ODD))
    assert not path.exists()
    doubts.finish()
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["place"] for row in rows] == ["line 1", "line 1"]
    assert rows[0]["confidence"] == 0.8765
    assert rows[1] == {"place": "line 1", **json.loads(json.dumps(sentence_row(ODD)))}
    assert rows[1]["reasons"] == [{"name": "loop", "text": "It says b twice.", "mark": "doubtful"}]
    assert [row["mark"] for row in rows] == [None, "doubtful"]
    assert (rows[1]["protected"][0]["status"], rows[1]["protected"][0]["target_span"]) == ("missing", None)


@pytest.mark.parametrize("strict", [True, False])
def test_strict_ends_with_code_3(strict: bool, capsys: pytest.CaptureFixture[str]) -> None:
    fine = DoubtReport(strict=strict)
    fine.add("line 1", said(FINE))
    fine.finish()
    assert capsys.readouterr().err == ""
    doubtful = DoubtReport(strict=strict)
    doubtful.add("line 1", said(ODD))
    if strict:
        with pytest.raises(typer.Exit) as ended:
            doubtful.finish()
        assert ended.value.exit_code == 3
    else:
        doubtful.finish()
    assert capsys.readouterr().err.count("\n") == 1


def test_a_report_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "r.jsonl"):
        with pytest.raises(InputError, match=r"--report .* cannot be written"):
            DoubtReport(path)
