"""`regard serve keys` and `regard serve suggestions`: what they print, and what they say of mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.serve.state.keys import ApiKeys, KeyLimits
from regard.serve.state.store import Store
from regard.serve.state.suggestions import Suggestions
from support import Call


def test_a_key_from_its_making_to_its_end(call: Call, tmp_path: Path) -> None:
    state = tmp_path / "state"
    made = call("serve", "keys", "add", "alice", "--state", state, "--per-minute", "60", "--quota", "500000")
    assert made.code == 0
    assert made.err.startswith('key "alice" was made (60 requests a minute, 500,000 characters a month); keep it now')
    with Store(state) as store:
        key = ApiKeys(store).find(made.out.strip())
        assert key is not None
        assert key.limits == KeyLimits(60, 500_000)
    listed = call("serve", "keys", "list", "--state", state)
    assert "alice" in listed.out
    assert made.out.strip() not in listed.out
    assert call("serve", "keys", "remove", "alice", "--state", state).code == 0
    (row,) = json.loads(call("serve", "keys", "list", "--state", state, "--json").out)
    assert row["name"] == "alice"
    assert row["revoked"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("list", "is no state folder of a server; regard serve keys add makes one"),
        ("remove alice", "is no state folder"),
        ("add alice --per-minute 0", "--per-minute must be a whole number from 1 to 100,000, but is 0"),
        ("ad alice", "no such command 'ad'"),
    ],
)
def test_mistakes_are_one_line(call: Call, tmp_path: Path, words: str, said: str) -> None:
    answer = call("serve", "keys", *words.split(), "--state", tmp_path / "none")
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "none").exists()


def test_suggestions_are_lines(call: Call, tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        Suggestions(store).add("anyone", "en", "fr", "two\nlines", "deux\tlignes")
    assert call("serve", "suggestions", "--state", tmp_path).out == "en\tfr\ttwo lines\tdeux lignes\n"
    row = json.loads(call("serve", "suggestions", "--state", tmp_path, "--json").out)
    assert (row["text"], row["better"]) == ("two\nlines", "deux\tlignes")
