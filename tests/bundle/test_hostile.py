"""Every field of a bundle's JSON files may hold anything: whoever loads the bundle gets an answer or one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regard.errors import RegardError
from support import Call

pytestmark = pytest.mark.long

DEEP = 5_000  # levels; Python's own limit is far below
SAID = "The cat sleeps."
VALUES: dict[str, str] = {  # as JSON
    "null": "null",
    "true": "true",
    "text": '"<x>"',
    "control characters": '"\\u001b[31m\\n\\u0000"',
    "half a surrogate pair": '"\\ud800"',
    "minus one": "-1",
    "zero": "0",
    "a huge whole number": "9" * 400,
    "64 bits": str(2**63 - 1),
    "a large number": "1e308",
    "infinity": "1e999",
    "NaN": "NaN",
    "a list": "[]",
    "an object": "{}",
    "nested lists": "[" * DEEP + "]" * DEEP,
    "nested objects": '{"a":' * 100 + "1" + "}" * 100,
}
PLACE = "@@here@@"


@pytest.fixture(scope="module")
def whole(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with everything in its card that the package reads, and a lexicon."""
    from regard.bundle.card import read_about
    from support import ABOUT

    folder = tmp_path_factory.mktemp("hostile") / "bundle"
    shutil.copytree(run_folder / "best", folder)
    (folder / "about.toml").write_text(ABOUT)
    card = json.loads((folder / "card.json").read_text())
    card["about"] = read_about(folder / "about.toml")
    (folder / "about.toml").unlink()
    card["attention_view"] = {"layer": 1, "head": 0, "row": "predicting", "aer": 0.1, "on": "test"}
    metric = {"name": "BLEU", "score": 12.5, "signature": "nrefs:1"}
    card["tests"] = {"notes": {"sentences": 3, "beam": 4, "exact": 2}, "news": {"sentences": 3, "metrics": [metric]}}
    (folder / "card.json").write_text(json.dumps(card))
    return folder


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON value, itself first; of long lists the first and the last entry."""
    yield path
    if isinstance(value, dict):
        for name in list(value)[:60]:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list):
        for index in sorted({0, len(value) - 1}) if value else ():
            yield from places(value[index], (*path, index))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    first, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[first] = replaced(value[first], tuple(rest), new)
    return copy


def removed(value: Any, path: tuple[Any, ...]) -> Any:
    *above, last = path
    holder = value
    for step in above:
        holder = holder[step]
    without = {k: v for k, v in holder.items() if k != last} if isinstance(holder, dict) else holder[:last]
    return replaced(value, tuple(above), without)


def mutants(text: str, values: list[str], paths: list[tuple[Any, ...]]) -> Iterator[tuple[str, str]]:
    whole = json.loads(text)
    for path in paths:
        if path:
            yield f"{path} removed", json.dumps(removed(whole, path))
        for name in values:
            marked = json.dumps(replaced(whole, path, PLACE))
            yield f"{path} = {name}", marked.replace(f'"{PLACE}"', VALUES[name])


def check(call: Call, what: str, *commands: tuple[str, ...]) -> None:
    for words in commands:
        answer = call(*words)
        assert answer.code in (0, 2, 3), (what, words, answer)
        assert "unexpected" not in answer.err, (what, words, answer)
        if answer.code == 2:
            assert answer.err.count("\n") == 1, (what, words, answer)
            assert len(answer.err) < 1500, (what, words, answer.err[:200])
            return  # what cannot be loaded cannot translate either


def try_all(call: Call, whole: Path, tmp_path: Path, name: str, paths: list[tuple[Any, ...]] | None = None) -> None:
    """Each field of one file, with each value in turn; the values take turns over the fields, so that it stays fast."""
    text = (whole / name).read_text()
    paths = list(places(json.loads(text))) if paths is None else paths
    folder = tmp_path / "bundle"
    shutil.copytree(whole, folder)
    (folder / "SHA256SUMS").unlink(missing_ok=True)
    names = list(VALUES)
    for number, path in enumerate(paths):
        turn = [names[(number * 3 + k) % len(names)] for k in range(3)]
        for what, mutant in mutants(text, turn, [path]):
            (folder / name).write_text(mutant)
            commands = [("info", str(folder)), ("translate", "--model", str(folder), SAID)]
            if name == "lexicon.json":
                commands = [("translate", "--model", str(folder), "--steer", "0.3", SAID)]
            check(call, f"{name}: {what}", *commands)


def test_config(whole: Path, tmp_path: Path, call: Call) -> None:
    try_all(call, whole, tmp_path, "config.json")


def test_card(whole: Path, tmp_path: Path, call: Call) -> None:
    try_all(call, whole, tmp_path, "card.json")


def test_tokenizer(whole: Path, tmp_path: Path, call: Call) -> None:
    text = json.loads((whole / "tokenizer.json").read_text())
    paths = [p for p in places(text) if p[:2] not in (("source", "pieces"), ("source", "merges")) or len(p) < 4]
    try_all(call, whole, tmp_path, "tokenizer.json", paths)


def test_lexicon(whole: Path, tmp_path: Path, call: Call) -> None:
    assert call("lexicon", "--model", whole).code == 0
    text = json.loads((whole / "lexicon.json").read_text())
    paths = [*[(name,) for name in text], *list(places(text["entries"], ("entries",)))[:12]]
    try_all(call, whole, tmp_path, "lexicon.json", paths)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b'{"a": 1', b"{}", b"null", b"\xef\xbb\xbf{}"])
@pytest.mark.parametrize("name", ["config.json", "card.json", "tokenizer.json"])
def test_what_is_no_json_object(whole: Path, tmp_path: Path, call: Call, name: str, content: bytes) -> None:
    shutil.copytree(whole, tmp_path / "bundle")
    (tmp_path / "bundle" / "SHA256SUMS").unlink()
    (tmp_path / "bundle" / name).write_bytes(content)
    check(call, name, ("info", str(tmp_path / "bundle")), ("info", "--json", str(tmp_path / "bundle")))


def test_errors_are_ours(whole: Path, tmp_path: Path) -> None:
    """From Python too."""
    import regard

    shutil.copytree(whole, tmp_path / "bundle")
    (tmp_path / "bundle" / "card.json").write_text('{"recipe": {"decode": {"beam": "many"}}}')
    with pytest.raises(RegardError, match=r"card\.json cannot be used: decode\.beam must be a whole number"):
        regard.load(tmp_path / "bundle")


@pytest.mark.parametrize("change", [{"layer": 2}, {"layer": 2**62}, {"head": 2}, {"head": -1}, {"row": "other"}])
def test_a_view_that_the_model_does_not_have(whole: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    import regard

    shutil.copytree(whole, tmp_path / "bundle")
    card = json.loads((whole / "card.json").read_text())
    card["attention_view"] |= change
    (tmp_path / "bundle" / "card.json").write_text(json.dumps(card))
    with pytest.raises(RegardError, match=r"card\.json cannot be used: .*attention_view"):
        regard.load(tmp_path / "bundle")
