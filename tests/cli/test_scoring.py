"""`regard bleu` as sacreBLEU's users would use it, against sacreBLEU."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from sacrebleu.significance import PairedTest

WORDS = ["the", "a", "cat", "dog", "mat", "house", "sits", "sleeps", "on", "in", ",", ".", "big", "small"]


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixty lines of source, two references, two systems of different quality, tags."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(4)
    refs = [[rng.choice(WORDS) for _ in range(rng.randint(3, 14))] for _ in range(60)]

    def spoilt(share: float) -> list[list[str]]:
        return [[rng.choice(WORDS) if rng.random() < share else word for word in line] for line in refs]

    for name, lines in {"ref": refs, "ref2": spoilt(0.2), "good": spoilt(0.2), "bad": spoilt(0.5)}.items():
        (tmp_path / name).write_text("".join(" ".join(line) + "\n" for line in lines))
    (tmp_path / "src").write_text("".join("x " * (i % 7 + 1) + "\n" for i in range(60)))
    (tmp_path / "tags").write_text("".join(("even long\n", "odd\n")[i % 2] for i in range(60)))
    return tmp_path


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def answer(call: Any, *words: str) -> Any:
    code, out, err = call("bleu", *words, "--json", "--quiet")
    assert (code, err.replace("regard: wrote page.html\n", "")) == (0, "")
    return json.loads(out)


def test_metrics_after_one_flag(room: Path, call: Any) -> None:
    found = answer(call, "good", "--ref", "ref", "-m", "bleu", "chrf", "ter", "--word-order", "2")
    hypotheses, references = lines(room / "good"), [lines(room / "ref")]
    theirs = [sacrebleu.BLEU(), sacrebleu.CHRF(word_order=2), sacrebleu.TER()]
    for ours, metric in zip(found, theirs, strict=True):
        assert ours["score"] == pytest.approx(metric.corpus_score(hypotheses, references).score, abs=1e-9)
        assert ours["signature"] == str(metric.get_signature())
    assert [one["name"] for one in found] == ["BLEU", "chrF2++", "TER"]
    again = answer(call, "good", "-m", "bleu", "-m", "chrf", "--metrics", "ter", "--ref", "ref", "--word-order", "2")
    assert again == found


def test_width_and_sentence_level(room: Path, call: Any) -> None:
    assert call("bleu", "good", "--ref", "ref", "-w", "5").out.startswith(
        f"BLEU = {sacrebleu.corpus_bleu(lines(room / 'good'), [lines(room / 'ref')]).score:.5f} "
    )
    printed = call("bleu", "good", "--ref", "ref", "--sentence-level", "-w", "6").out.split("\n")[:-1]
    pairs = zip(lines(room / "good"), lines(room / "ref"), strict=True)
    assert printed == [f"{sacrebleu.sentence_bleu(hyp, [ref]).score:.6f}" for hyp, ref in pairs]


def test_references_in_columns_with_gaps(room: Path, call: Any) -> None:
    one, two = lines(room / "ref"), lines(room / "ref2")
    table = [f"{a}\t{b if i % 3 else ''}" for i, (a, b) in enumerate(zip(one, two, strict=True))]
    table[1] = one[1]  # the last column may be missing altogether
    with gzip.open(room / "refs.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(table) + "\n")
    found = answer(call, "good", "--ref", "refs.tsv.gz")
    gaps = [None if i % 3 == 0 or i == 1 else line for i, line in enumerate(two)]
    metric = sacrebleu.BLEU()
    assert found["score"] == pytest.approx(metric.corpus_score(lines(room / "good"), [one, gaps]).score, abs=1e-9)
    assert found["signature"] == str(metric.get_signature())
    assert found["signature"].startswith("nrefs:var|")


def test_a_byte_order_mark_is_a_letter_as_for_sacrebleu(room: Path, call: Any) -> None:
    (room / "bom").write_text("\ufeff" + (room / "ref").read_text(), encoding="utf-8")
    expected = sacrebleu.corpus_bleu(
        ["\ufeff" + lines(room / "ref")[0], *lines(room / "ref")[1:]], [lines(room / "ref")]
    )
    assert answer(call, "bom", "--ref", "ref")["score"] == pytest.approx(expected.score, abs=1e-9)
    assert expected.score < 100


@pytest.mark.parametrize(("test", "theirs"), [("bootstrap", "bs"), ("randomisation", "ar")])
def test_two_systems_are_compared_as_sacrebleu_compares_them(room: Path, call: Any, test: str, theirs: str) -> None:
    found = answer(call, "good", "bad", "--ref", "ref", "--paired", test, "--resamples", "200")
    systems = [(name, lines(room / name)) for name in ("good", "bad")]
    signatures, scores = PairedTest(systems, {"BLEU": sacrebleu.BLEU()}, [lines(room / "ref")], theirs, 200)()
    assert found[1]["p_value"] == scores["BLEU"][1].p_value
    assert [one["score"] for one in found] == pytest.approx([one.score for one in scores["BLEU"]], abs=1e-9)
    assert found[0]["signature"] == str(signatures["BLEU"])
    table = call("bleu", "good", "bad", "--ref", "ref", "--paired", test, "--resamples", "200").out
    assert f"(p = {scores['BLEU'][1].p_value:.4f}*)" in table


def test_an_interval(room: Path, call: Any) -> None:
    found = answer(call, "good", "--ref", "ref", "--confidence")
    theirs = sacrebleu.BLEU().corpus_score(lines(room / "good"), [lines(room / "ref")], n_bootstrap=1000)
    assert found["interval"]["half"] == pytest.approx(theirs._ci, abs=1e-4)
    assert f"± {theirs._ci:.2f}" in call("bleu", "good", "--ref", "ref", "--confidence").out


def test_the_working_as_text_json_and_page(room: Path, call: Any) -> None:
    text = call("bleu", "good", "--ref", "ref", "--explain", "--line", "2").out
    expected = sacrebleu.BLEU().sentence_score(lines(room / "good")[1], [lines(room / "ref")[1]])
    assert f"BLEU = {expected.score:.2f} " in text
    data = answer(call, "good", "--ref", "ref", "--explain", "--line", "2", "--out", "page.html")
    assert data["score"]["score"] == pytest.approx(expected.score, abs=1e-9)
    page = (room / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<mark" in page
    assert "http" not in page.replace("http-equiv", "")


def test_buckets_and_differences_in_one_answer(room: Path, call: Any) -> None:
    words = ["good", "bad", "--ref", "ref", "--by", "tags", "--line-tags", "tags", "--differences", "2", "--src", "src"]
    found = answer(call, *words, "--out", "page.html")
    assert set(found) == {"scores", "buckets", "differences"}
    even = [lines(room / name)[::2] for name in ("good", "ref")]
    printed = call("bleu", *words).out
    assert f"{sacrebleu.corpus_bleu(even[0], [even[1]]).score:.2f}" in printed
    assert "even" in printed
    assert lines(room / "good")[found["differences"]["lines"][0][0]["number"] - 1] in (room / "page.html").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["--by", "source-length", "--src", "src", "--edges", "3,5"],
        ["--by", "frequency"],
        ["--by", "frequency", "--counts", "src"],
    ],
)
def test_other_buckets(room: Path, call: Any, words: list[str]) -> None:
    code, out, err = call("bleu", "good", "bad", "--ref", "ref", *words)
    assert (code, err) == (0, "")
    assert "good" in out
    assert answer(call, "good", "bad", "--ref", "ref", *words)["buckets"]


def test_what_may_hurt_a_score_is_said(room: Path, call: Any) -> None:
    (room / "tokenized").write_text("a b .\n" * 120)
    _, out, err = call("bleu", "tokenized", "--ref", "tokenized")
    assert out.startswith("BLEU = 0.00")
    assert "looks tokenized" in err
    assert "no line has 4 tokens (the longest has 3)" in err
    assert call("bleu", "tokenized", "--ref", "tokenized", "--quiet").err == ""
    assert (
        "tokenized" not in call("bleu", "tokenized", "--ref", "tokenized", "--tokenize", "none").err.split(": ", 2)[2]
    )
    (room / "holes").write_text("a b c d\n\n\n")
    (room / "whole").write_text("a b c d\na\nb\n")
    assert "2 of 3 lines are empty, the first is line 2" in call("bleu", "holes", "--ref", "whole").err
