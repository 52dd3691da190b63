"""A first checkpoint that cannot be written says that there is none before it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from regard.errors import RunError
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.recipe.train import TrainConfig
from regard.training.average import Average
from regard.training.checkpoint import CURRENT, Progress, load_checkpoint, save_checkpoint
from regard.training.log import drop_rows_after
from regard.training.optim import make_optimizer


@pytest.fixture
def parts() -> tuple[Transformer, torch.optim.Optimizer, Average]:
    torch.manual_seed(0)
    config = TrainConfig(average="ema")
    model = Transformer(TransformerConfig(width=8, heads=2, inner=8, encoder_layers=1, decoder_layers=1), 9, 9, True)
    return model, make_optimizer(model, config), Average(model, config)


def test_everything_comes_back(tmp_path: Path, parts: tuple[Transformer, torch.optim.Optimizer, Average]) -> None:
    model, optimizer, average = parts
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    average.after_update(1)
    progress = Progress(step=1, epoch=2, index=3, best_bleu=4.5, signature="s")
    save_checkpoint(tmp_path, progress, "[train]\n", "data", optimizer, average)
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    drawn = torch.rand(3)

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    found = load_checkpoint(tmp_path)
    assert (found.progress, found.recipe, found.data) == (progress, "[train]\n", "data")
    found.restore(optimizer, average)
    assert all(torch.equal(p, before[n]) for n, p in model.named_parameters())
    assert torch.equal(torch.rand(3), drawn)
    moments = [optimizer.state[p]["exp_avg_sq"] for p in model.parameters()]
    assert all((m > 0).any() for m in moments)


def test_no_room_for_the_first(tmp_path: Path, parts: tuple[Transformer, torch.optim.Optimizer, Average]) -> None:
    with pytest.raises(RunError, match="it would have been the first"):
        save_checkpoint(tmp_path / "gone", Progress(step=7), "", "", *parts[1:])


def test_none_is_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no checkpoint in"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "about",
    [
        "null",
        "[]",
        '{"progress": {"step": 3}, "checksums": {}}',
        '{"progress": {"step": "x"}, "checksums": {}, "recipe": "", "data": ""}',
        '{"progress": {"step": 3}, "checksums": {}, "recipe": 5, "data": ""}',
        '{"progress": {"stpe": 3}, "checksums": {}, "recipe": "", "data": ""}',
        '{"progress": {"step": 3}, "checksums": [], "recipe": "", "data": ""}',
        "{",
    ],
)
def test_a_hostile_description_is_one_clear_line(tmp_path: Path, about: str) -> None:
    save_file({"model:a": torch.zeros(1)}, tmp_path / CURRENT, metadata={"about": about})
    with pytest.raises(RunError, match="is damaged"):
        load_checkpoint(tmp_path)


def test_rows_past_the_checkpoint_and_what_is_no_row_are_dropped(tmp_path: Path) -> None:
    metrics, row = tmp_path / "metrics.jsonl", '{"step": 1, "kind": "train", "loss": 0.1}\n'
    metrics.write_bytes(row.encode() + b'[1]\n{"step": "x", "kind": "dev"}\n{"step": 9, "kind": "dev"}\n\xff{"ste')
    drop_rows_after(metrics, 5)
    assert metrics.read_text() == row
    stamp = metrics.stat().st_ino
    drop_rows_after(metrics, 5)
    assert (metrics.read_text(), metrics.stat().st_ino) == (row, stamp)  # nothing to drop: not written
