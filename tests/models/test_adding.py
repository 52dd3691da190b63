"""An architecture is one file and one line of the table: `toy.py` is trained, saved, loaded, translated with and
explained, and every test of the contract holds for it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.batch import Batch
from regard.explain.ablation import ablated, heads_of
from regard.explain.mechanisms import Query
from regard.explain.step import step_numbers
from regard.models.table import ARCHITECTURES, Architecture
from regard.text.tokenizer import Tokenizer
from support import LINES, Call, load_script, write_lines
from variants import V, scattered

HERE = Path(__file__).parent
toy = load_script(HERE / "toy.py")
contract = load_script(HERE / "test_contract.py")
TESTS = {name: test for name, test in vars(contract).items() if name.startswith("test_")}
NOT_HERE = {  # they are about the package's own models by name
    "test_every_architecture_is_here",
    "test_which_attention_there_is",
    "test_learned_positions_end_with_an_error_and_a_search_before_it",
    "test_a_wrapped_layer_still_counts",
}


@pytest.fixture(autouse=True)
def _line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of the table."""
    monkeypatch.setitem(ARCHITECTURES, "toy", Architecture(toy.ToyConfig, toy.PRESETS, toy.Toy))


def given(test: Any) -> Iterator[dict[str, Any]]:
    """The arguments of a test's own parameters, but for the architecture."""
    marks = [mark.args for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    sets: list[dict[str, Any]] = [{}]
    for names, values in marks:
        if names == "architecture":
            continue
        keys = [names] if isinstance(names, str) else list(names)
        each = [(value,) if isinstance(names, str) else value for value in values]
        sets = [one | dict(zip(keys, value, strict=True)) for one in sets for value in each]
    yield from sets


@pytest.mark.parametrize("name", sorted(TESTS.keys() - NOT_HERE))
def test_the_contract_holds(name: str, batch: Batch, tokenizer: Tokenizer, tmp_path: Path) -> None:
    test = TESTS[name]
    wanted = inspect.signature(test).parameters
    for number, arguments in enumerate(given(test)):
        torch.manual_seed(7)
        known = {
            "model": scattered(toy.Toy(toy.PRESETS["tiny"], V, V, True)),
            "batch": batch,
            "tokenizer": tokenizer,
            "tmp_path": tmp_path / str(number),
            "architecture": "toy",
        }
        test(**arguments, **{key: value for key, value in known.items() if key in wanted})


def test_it_is_trained_stored_and_explained(tmp_path: Path, call: Call) -> None:
    src, tgt = (str(path) for path in write_lines(tmp_path))
    recipe = {
        "data": {"src": src, "tgt": tgt, "dev_src": src, "dev_tgt": tgt},
        "text": {"vocab_size": 360},
        "model": {"architecture": "toy", "preset": "tiny"},
        "train": {"steps": 2, "batch_tokens": 600, "eval_every": 2, "save_every": 2, "device": "cpu"},
    }
    run = regard.train(recipe, tmp_path / "run").run
    translator = regard.load(run)
    assert translator.bundle.architecture == "toy"
    assert isinstance(translator.bundle.model, toy.Toy)
    source, target = LINES[0]
    assert call("translate", "--model", run, source).code == 0
    out = tmp_path / "map.json"
    shown = call("explain", "attention", "--model", run, source, "--target", target, "--out", out)
    assert shown.code == 0, shown.err
    assert json.loads(out.read_text())
    (ids,) = translator.tokenizer.encode_target([target])
    numbers = step_numbers(translator.bundle, source, ids, Query(position=2)).numbers
    assert numbers.equation.startswith("α = softmax(sᵀh / √d)")
    assert max(numbers.differences.values()) < 1e-5
    (head,) = heads_of(translator.bundle.model)
    with ablated(translator.bundle.model, [head]):
        pass
