"""`regard clean` as it is typed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from support import Call

SUBJECTS = ("The president", "A farmer", "My old teacher", "The young doctor", "Her brother", "This company")
VERBS = ("has read the report about", "wants to change the rules for", "often speaks about", "knows nothing about")
OBJECTS = ("the rivers", "our children", "fresh bread", "the railways", "cheap medicine", "the weather", "new schools")
LINES = [f"{s} {v} {o}." for s in SUBJECTS for v in VERBS for o in OBJECTS]


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"src": line, "tgt": f"Numéro {i} : « {line[::-1]} »"} for i, line in enumerate(LINES)]
    with gzip.open(tmp_path / "pairs.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "test.en").write_text(LINES[5].upper() + "\n", encoding="utf-8")
    return tmp_path


def test_pairs(pairs: Path, call: Call) -> None:
    words = ("clean", "--pairs", "pairs.jsonl.gz", "--without", "test.en", "--out", "out", "--workers", "1")
    answer = call(*words, "--no-check-language", "--least-score", "0", "--no-near", "--languages", "en,fr")
    assert answer.code == 0, answer.err
    assert "held out " in answer.out
    english = (pairs / "out" / "train.en").read_text(encoding="utf-8").splitlines()
    assert english == LINES[:5] + LINES[6:]
    again = call(*words)
    assert again.code == 2
    assert "already exists" in again.err
    assert "--out" in again.err


def test_one_language(pairs: Path, call: Call) -> None:
    Path("a.txt").write_text("\n".join(LINES[:2]) + "\n", encoding="utf-8")
    Path("b.txt").write_text("Die Katze liegt auf der Matte und schläft.\n", encoding="utf-8")
    words = ("clean", "--single", "?.txt", "--languages", "en", "--out", "out", "--workers", "1", "--json")
    answer = call(*words)
    assert answer.code == 0, answer.err
    told = json.loads(answer.out)
    assert (told["read"], told["kept"]) == (3, 2)
    assert [rule["rule"] for rule in told["rules"] if rule["dropped"]] == ["language"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--out o", "name the sentences in one way"),
        ("--src test.en --out o", "name the sentences in one way"),
        ("--single test.en --pairs pairs.jsonl.gz --out o", "name the sentences in one way"),
        ("--single test.en", "where to write is not given"),
        ("--single test.en --languages en,fr --out o", "--languages must be one code"),
        ("--pairs pairs.jsonl.gz --languages xx,en --out o", "--languages must be two codes"),
        ("--single none.en --languages en --out o", "none.en does not exist"),
        ("--single test.en --languages en --longest 0 --out o", "--longest must be a whole number"),
        ("--single test.en --languages en --shortest 9 --longest 5 --out o", "longest must be at least shortest"),
        ("--single test.en --languages en --without test.en --out o", "nothing is left"),
    ],
)
def test_bad_input(pairs: Path, call: Call, words: str, message: str) -> None:
    answer = call("clean", *words.split())
    assert answer.code == 2
    assert message in answer.err
    assert "Traceback" not in answer.err
