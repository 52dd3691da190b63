"""The commands of docs/data.md, as they stand there, on a small embedded corpus; only sizes and steps are added."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from safetensors.torch import load_file

from support import Call

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
SMALL = "--width 16 --heads 2 --inner 32 --encoder-layers 1 --decoder-layers 1 --vocab-size 400"
PACE = "--batch-tokens 1000 --max-length 100 --max-ratio 100 --steps 3 --device cpu"  # what is said is no language yet


def commands(heading: str) -> list[list[str]]:
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [shlex.split(line) for line in re.findall(r"^regard .*$", section, re.MULTILINE)]


def run(words: list[str], call: Call) -> str:
    if words[1] == "train":
        sizes = PACE if "--start-from" in words else f"{SMALL} {PACE}"
        words = [*[w for w in words if w not in ("--preset", "tiny")], *sizes.split()]
    if words[1] == "translate":
        words = [*words, "--device", "cpu"]
    code, _, err = call(*words[1:])
    assert code == 0, err
    return err


@pytest.fixture
def home(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run(shlex.split("regard corpus --out data --size 1000"), call)
    for name, count in (("train", 80), ("dev", 2), ("test", 20)):
        for side in ("en", "fr"):
            path = tmp_path / "data" / f"{name}.{side}"
            path.write_text("".join(path.read_text(encoding="utf-8").splitlines(True)[:count]), encoding="utf-8")
    (tmp_path / "mono.fr").write_text((tmp_path / "data" / "test.fr").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "recipe.toml").write_text(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0], encoding="utf-8")
    return tmp_path


@pytest.mark.long
def test_back_translation(home: Path, call: Call) -> None:
    back, translate, train = commands("Back-translation")
    run(back, call)
    run(translate, call)
    synthetic = (home / "synthetic.en").read_text(encoding="utf-8").split("\n")
    assert len(synthetic) == 21
    assert all(synthetic[:-1])
    assert "of 100 pairs" in run(train, call)
    tokens = (home / "runs" / "with-back-translation" / "tokenizer.json").read_text(encoding="utf-8")
    assert tokens.count('"<bt>"') == 2  # among the pieces, and in the configuration


@pytest.mark.slow
def test_distillation_and_adaptation(home: Path, call: Call) -> None:
    teach, translate, learn = commands("Distillation")
    run(teach, call)
    run(translate, call)
    assert len((home / "distilled.fr").read_text(encoding="utf-8").split("\n")) == 81
    (adapt,) = commands("Adaptation")
    run(adapt, call)
    before, after = (load_file(home / "runs" / name / "last" / "model.safetensors") for name in ("teacher", "adapted"))
    assert before.keys() == after.keys()
    moved = {name for name in before if not before[name].equal(after[name])}
    assert moved
    assert all(re.search(r"(attention|cross|feed_forward)\.\w+\.weight$", name) for name in moved)
    assert "of 80 pairs" in run(learn, call)
