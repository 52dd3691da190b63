"""Journeys of real text through `regard translate` with the bundled model: paragraphs, protected spans, doubts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support import Call

pytestmark = pytest.mark.usefixtures("usual_engine")
PHONE = "Call 555-0199 at 3:45 pm."
TWO_PARAGRAPHS = "The cat is black. Thank you!\n\n  - The dog sleeps.\n"


def test_two_paragraphs_as_one_argument_keep_their_shape(call: Call) -> None:
    code, out, err = call("translate", "--device", "cpu", TWO_PARAGRAPHS)
    assert (code, err) == (0, "")
    assert out.count("\n") == TWO_PARAGRAPHS.count("\n") + 1
    first, empty, item, *_ = out.split("\n")
    assert first.startswith("Le chat est noir. Merci")
    assert (empty, item) == ("", "  - Le chien dort.")


def test_protected_spans_are_copied_and_reported(call: Call, tmp_path: Path) -> None:
    report = tmp_path / "why.jsonl"
    code, out, err = call("translate", "--device", "cpu", "--report", report, f"{PHONE} The cat is black.")
    assert (code, err) == (0, "")
    assert "555-0199" in out
    assert "3:45 pm" in out
    first, second = (json.loads(line) for line in report.read_text(encoding="utf-8").splitlines())
    assert [one["status"] for one in first["protected"]] == ["kept", "kept"]
    assert (first["place"], second["place"], second["protected"]) == ("line 1", "line 1", [])
    assert 0 < first["confidence"] <= 1


def test_doubtful_sentences_are_one_line_and_with_strict_code_3(call: Call, tmp_path: Path) -> None:
    french = "Le chat est sur le tapis."
    words = ["translate", "--device", "cpu", "The cat is black.", french]
    lax, strict = call(*words), call(*words, "--strict")
    assert (lax.code, strict.code) == (0, 3)
    assert lax.out == strict.out
    assert lax.err == strict.err
    assert lax.err == (
        "regard: 1 doubtful, of 2 sentences: line 2: The source seems to be French, but the model reads English.\n"
    )
    careless = call(*words, "--strict", "--no-guard")
    assert (careless.code, careless.err) == (0, "")
    rows = [json.loads(line) for line in call(*words, "--json").out.splitlines()]
    assert [bool(row["warnings"]) for row in rows] == [False, True]
    assert rows[1]["sentences"][0]["reasons"][0]["name"] == "language"


def test_terms_of_several_words_are_placed_and_reported(call: Call, tmp_path: Path) -> None:
    terms, report = tmp_path / "terms.tsv", tmp_path / "why.jsonl"
    terms.write_text("power button\tbouton marche/arrêt\nfile\tarchive\n", encoding="utf-8")
    sentences = ["Hold the power buttons.", "The file is old."]
    first, second = call(
        "translate", "--device", "cpu", "--glossary", terms, "--report", report, *sentences
    ).out.splitlines()
    rows = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    assert [one["status"] for row in rows for one in row["protected"]] == ["kept", "kept"]
    assert "bouton" in first
    assert "marche/arrêt" in first
    assert "l'archive" in second.lower().replace("’", "'")


def test_a_glossary_and_words_to_keep(call: Call, tmp_path: Path) -> None:
    terms, kept = tmp_path / "terms.tsv", tmp_path / "keep.txt"
    terms.write_text("cat\tmatou\n", encoding="utf-8")
    kept.write_text("dog\n", encoding="utf-8")
    words = ["translate", "--device", "cpu", "The cat is black.", "The dog sleeps."]
    first, second = call(*words, "--glossary", terms, "--keep", kept).out.splitlines()
    assert "matou" in first
    assert "dog" in second
    refused = call(*words, "--glossary", tmp_path / "none.tsv")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_wrapped_text_lines_and_standard_input(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "wrapped"
    path.write_text("The cat\nis black.\n\nThank you.\n", encoding="utf-8")
    words = ["translate", "--device", "cpu", "--no-guard", "--input", path]
    assert "Le chat est noir." in call(*words, "--split", "wrapped").out
    assert call(*words, "--split", "wrapped", "--format", "lines").out == "Le chat est noir.\n\nMerci.\n"
    assert call(*words, "--split", "lines", "--format", "lines").out.count("\n") == 4


def test_forms_of_the_target_language_and_no_repetition(call: Call) -> None:
    words = ["translate", "--device", "cpu", "There are 1,250 people here."]
    assert "1,250" in call(*words).out
    assert "1\u202f250" in call(*words, "--localize").out
    assert call(*words, "--no-repeat", "3").code == 0
    assert "--no-repeat must be a whole number from 0 to 100" in call(*words, "--no-repeat", "-1").err


def test_nbest_lists_have_no_two_equal_strings(call: Call) -> None:
    one, several = "The cat is black.", "The cat is black. Thank you! The dog sleeps."
    out = call("translate", "--device", "cpu", "--beam", "8", "--nbest", "8", one, several).out
    rows = [line.split(" ||| ") for line in out.splitlines()]
    for number in ("0", "1"):
        texts = [text for line, text, _ in rows if line == number]
        assert 1 < len(texts) == len(set(texts)) <= 8
        scores = [float(score) for line, _, score in rows if line == number]
        assert scores == sorted(scores, reverse=True)


def test_a_document_is_no_place_for_nbest_lists(call: Call, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>The cat is <b>black</b>.</p>\n", encoding="utf-8")
    out = call("translate", "--device", "cpu", "--input", page).out
    assert out == "<p>Le chat est <b>noir</b>.</p>\n"
    as_lines = call("translate", "--device", "cpu", "--input", page, "--format", "lines")
    assert as_lines.code == 0
    refused = call("translate", "--device", "cpu", "--input", page, "--nbest", "2")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--format lines" in refused.err
    unknown = call("translate", "--device", "cpu", "--input", page, "--format", "pdf")
    assert (unknown.code, unknown.err.count("\n")) == (2, 1)
