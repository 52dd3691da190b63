"""`regard doctor` as a user runs it: what it prints, its exit code, and that nothing is left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from damage import clean
from support import Call, regard

pytestmark = pytest.mark.long

SMALL = (
    "--width 16 --heads 2 --inner 32 --encoder-layers 1 --decoder-layers 1 --device cpu --vocab-size 600 "
    "--batch-tokens 600 --steps 40 --warmup 4 --eval-every 20 --save-every 20"
)


def files(folder: Path, held_out: bool = True) -> list[str]:
    data = clean().write(folder)
    keys = ["src", "tgt", *(("dev_src", "dev_tgt", "test_src", "test_tgt") if held_out else ())]
    return [word for key in keys for word in (f"--{key.replace('_', '-')}", str(getattr(data, key)))]


def test_without_a_recipe_it_tells_of_the_machine(call: Call) -> None:
    done = call("doctor")
    assert done.code == 0
    for word in ("versions    regard", "torch", "cores, 1 thread", "memory", "devices", "disk", "regard doctor --src"):
        assert word in done.out


def test_a_sound_corpus_and_its_run(tmp_path: Path) -> None:
    words, cache = files(tmp_path), tmp_path / "cache"
    before = {path.name for path in tmp_path.iterdir()}
    done = regard("doctor", *words, *SMALL.split(), "--json", REGARD_CACHE=str(cache))
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    found = json.loads(done.stdout)
    assert found["serious"] == 0
    assert found["pairs"] == {"train": 3000, "dev": 300, "test": 600}
    foreseen = found["prediction"]
    assert set(foreseen["parts"]) == {"start", "updates", "evaluations", "checkpoints", "test"}
    assert foreseen["total"]["wall"] == pytest.approx(sum(part["wall"] for part in foreseen["parts"].values()))
    assert (foreseen["steps"], foreseen["evaluations"], foreseen["checkpoints"]) == (40, 2, 2)
    assert foreseen["peak_bytes"] > 1e8
    assert {path.name for path in tmp_path.iterdir()} == before | {"cache"}


def test_a_damaged_corpus(tmp_path: Path, call: Call) -> None:
    words = files(tmp_path, held_out=False)
    path = tmp_path / "train.fr"
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xe9", 5))
    done = call("doctor", *words)
    assert done.code == 3
    assert "! train, encoding:" in done.out
    assert "train.fr:" in done.out
    assert "iconv -f ISO-8859-1 -t UTF-8" in done.out
    assert "prediction  none: training would refuse this data" in done.out
    assert "1 serious finding, marked !" in done.out


def test_advice_that_is_serious_is_an_exit_code_too(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    words = files(tmp_path, held_out=False)
    done = call("doctor", *words, *SMALL.split(), "--warmup", "400")
    assert done.code == 3
    assert "! rate: the warm-up of 400 updates does not end within 40; try --warmup 4" in done.out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--sample-pairs 10", "--sample-pairs must be a whole number of at least 1,000, but is 10"),
        ("a.toml b.toml", "doctor takes one recipe, but got 2 words"),
        ("nothing.toml", "no recipe at nothing.toml"),
        ("--stepz 3", 'unknown key "stepz"; did you mean "steps"'),
        ("--steps 3", "no training data: give data.src and data.tgt"),
        ("--src nowhere.en --tgt nowhere.fr", "nowhere.en does not exist"),
    ],
)
def test_bad_input_is_one_line(call: Call, words: str, line: str) -> None:
    done = call("doctor", *words.split())
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert line in done.err
