"""`regard score`: pairs, files and n-best lists, against what the search itself says."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from regard.translator import Translator
from support import LINES, Call

SOURCES = "".join(f"{source}\n" for source, _ in LINES[:6])
TARGETS = "".join(f"{target}\n" for _, target in LINES[:6])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text(SOURCES)
    (tmp_path / "a.fr").write_text(TARGETS)
    return tmp_path


def test_one_pair_is_shown_token_by_token(call: Call, run_folder: Path, translator: Translator) -> None:
    found = translator.score("The cat sleeps.", "Le chat dort.")
    rows = call("score", "--model", str(run_folder), "The cat sleeps.", "Le chat dort.").out.splitlines()
    assert [row.split()[1] for row in rows[:-1]] == list(found.tokens)
    assert [float(row.split()[0]) for row in rows[:-1]] == pytest.approx(found.token_log_probs, abs=1e-4)
    assert rows[-1].split()[0] == f"{found.log_prob:.4f}"


def test_several_targets_are_ranked(call: Call, run_folder: Path) -> None:
    words = "score", "--model", str(run_folder), "The cat sleeps.", "Le chien dort.", "Le chat dort.", "x"
    rows = [row.split("\t") for row in call(*words).out.splitlines()]
    assert rows[0][-1] == "Le chat dort."
    assert {row[-1] for row in rows} == {"Le chien dort.", "Le chat dort.", "x"}
    assert [float(row[0]) for row in rows] == sorted((float(row[0]) for row in rows), reverse=True)


def test_files_give_a_line_for_each_pair_and_a_total(
    call: Call, run_folder: Path, translator: Translator, place: Path
) -> None:
    words = "score", "--model", str(run_folder), "--src", "a.en", "--tgt", "a.fr"
    found = translator.score(SOURCES.splitlines(), TARGETS.splitlines())
    assert call(*words).out == "".join(f"{one.log_prob:.4f}\t{one.perplexity:.4f}\n" for one in found)
    (total,) = (json.loads(line) for line in call(*words, "--total", "--json").out.splitlines())
    tokens, log_prob = sum(len(one.tokens) for one in found), sum(one.log_prob for one in found)
    assert (total["pairs"], total["tokens"]) == (6, tokens)
    assert total["perplexity"] == pytest.approx(math.exp(-log_prob / tokens))
    assert call(*words, "--total").out.startswith(f"perplexity {total['perplexity']:.4f} a token; 6 pairs")
    rows = [json.loads(line) for line in call(*words, "--json").out.splitlines()]
    assert [row["target"] for row in rows] == TARGETS.splitlines()
    assert rows[1]["token_log_probs"] == pytest.approx(list(found[1].token_log_probs))
    assert call(*words, "--tokens").out.splitlines()[0].split("\t")[2].startswith(f"{found[0].tokens[0]}:")


def test_candidates_get_the_scores_that_the_search_gave_them(call: Call, run_folder: Path, place: Path) -> None:
    lists = call("translate", "--model", str(run_folder), "--input", "a.en", "--nbest", "3", "--no-guard").out
    rows = lists.splitlines()
    groups = [[row for row in rows if row.startswith(f"{line} |||")] for line in range(6)]
    (place / "mixed.txt").write_text("".join(f"{row}\n" for group in groups for row in reversed(group)))
    again = call("score", "--model", str(run_folder), "--src", "a.en", "--candidates", "mixed.txt").out.splitlines()
    best = {}
    for row in again:
        line, text, score = row.split(" ||| ")
        best.setdefault(line, text)
        if (before := next((r for r in rows if r.startswith(f"{line} ||| {text} |||")), None)) is not None:
            assert float(before.rpartition(" ||| ")[2]) == pytest.approx(float(score), abs=2e-3) or text not in TARGETS
    assert list(best.values()) == TARGETS.splitlines()


def test_candidates_out_of_order_or_of_no_line_are_refused(call: Call, run_folder: Path, place: Path) -> None:
    for text, says in [
        ("1 ||| a\n0 ||| b\n", "line 2 of bad.txt is of source line 0, after 1; sort it first"),
        ("0 ||| a\n7 ||| b\n", "bad.txt has source line 7, but a.en has 6 lines"),
    ]:
        (place / "bad.txt").write_text(text)
        answer = call("score", "--model", str(run_folder), "--src", "a.en", "--candidates", "bad.txt")
        assert answer.code == 2
        assert says in answer.err
