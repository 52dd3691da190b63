"""A batch without room is learnt from in parts, with the same gradient and nothing left over from failed passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console
from torch import Tensor

from regard.batch import Batch
from regard.device import is_out_of_memory, save_random_state
from regard.errors import RunError
from regard.recipe.read import read_recipe
from regard.recipe.recipe import Recipe
from regard.training.checkpoint import load_checkpoint
from regard.training.dry_run import try_largest_batch
from regard.training.folder import RunFolder
from regard.training.job import Job, prepare
from regard.training.run import resume, train
from regard.training.update import Update, positions, split_batch
from support import TINY, Call, write_lines

SPOKEN = "[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
ON_ARM = "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."


def recipe_in(folder: Path, **keys: object) -> Recipe:
    src, tgt = write_lines(folder)
    settings = {
        "src": src,
        "tgt": tgt,
        "vocab_size": 340,
        "device": "cpu",
        "batch_tokens": 200,
        "max_length": 60,
        **TINY,
    }
    settings |= {"steps": 4, "save_every": 2, "eval_every": 4, "warmup": 2, "log_every": 1, **keys}
    return read_recipe(None, [(name, str(value)) for name, value in settings.items()])


def job_in(folder: Path, **keys: object) -> Job:
    return prepare(recipe_in(folder, **keys), RunFolder(folder / "run"), Console(quiet=True))


def limit(job: Job, most: int, message: str = SPOKEN) -> list[int]:
    """The model's output layer has no room for more rows than `most`, neither forward nor, at `most`, backward."""
    tried: list[int] = []

    def fail(module: torch.nn.Module, given: tuple[Tensor], out: Tensor) -> None:
        tried.append(len(out))
        if len(out) > most:
            raise RuntimeError(message)

    job.bundle.model.output.register_forward_hook(fail)
    return tried


def gradients(update: Update, batches: list[Batch]) -> tuple[Tensor, list[Tensor]]:
    loss = update.accumulate_gradients(batches, 0.01)
    found = [p.grad.clone() for p in update.parameters if p.grad is not None]
    update.zero_grad()
    return loss, found


@pytest.mark.parametrize("share_rows", ["off", "on"])
def test_parts_have_the_gradient_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share_rows: str) -> None:
    job = job_in(tmp_path, share_rows=share_rows, batch_tokens=256)
    job.bundle.model.double()
    update, batches = job.update, [next(job.data.batches).pad() for _ in range(2)]
    loss, wanted = gradients(update, batches)
    real, most, seen = update.run_pass, 2, []

    def backward_fails(batch: Batch, scale: Tensor) -> Tensor:
        seen.append(len(batch))
        found = real(batch, scale)  # its gradients have been added when memory runs out
        if len(batch) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return found

    monkeypatch.setattr(update, "run_pass", backward_fails)
    parts_loss, parts = gradients(update, batches)
    assert max(seen) > most
    assert len([n for n in seen if n <= most]) > len(batches)
    torch.testing.assert_close(parts_loss, loss)
    torch.testing.assert_close(parts, wanted)
    failures = sum(n > most for n in seen)
    gradients(update, batches)
    assert sum(n > most for n in seen) == failures  # what fits is known from then on


def test_one_row_without_room_is_one_clear_line(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    limit(job, 0)
    with pytest.raises(RunError, match=r"out of memory even with one row of \d+ and \d+ tokens; use a smaller model"):
        try_largest_batch(job.update, job.data, print)


def test_another_error_is_not_taken_for_want_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_in(tmp_path)
    update = job.update
    monkeypatch.setattr(update, "run_pass", lambda batch, scale: torch.zeros(2) @ torch.zeros(3))
    with pytest.raises(RuntimeError, match="inconsistent"):
        update.accumulate_gradients([next(job.data.batches).pad()], 1.0)


@pytest.mark.parametrize("message", [SPOKEN, ON_ARM])
def test_the_trial_changes_nothing_but_what_is_known_of_memory(tmp_path: Path, message: str) -> None:
    job = job_in(tmp_path, dropout=0.1)
    tried = limit(job, 3, message)
    batches = job.data.batches
    rng_state, before, said = torch.get_rng_state(), replace(job.progress), []
    place = batches.state()
    try_largest_batch(job.update, job.data, said.append)
    assert torch.equal(torch.get_rng_state(), rng_state)
    assert max(tried) > 3
    assert replace(job.progress, room=None) == before
    assert batches.state() == place
    assert all(p.grad is None for p in job.bundle.model.parameters())
    assert said[0].startswith("memory      up to ")
    assert "does not fit and is split into" in said[1]
    largest = batches.largest().pad()
    sizes = [positions(next(batches).pad()) for _ in range(batches.per_epoch)]
    assert positions(largest) == max(sizes)
    assert all(len(part) <= 3 for part in split_batch(largest, job.progress.room))


def test_a_run_that_goes_on_splits_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropout's masks depend on the parts, so the room there is belongs to the checkpoint."""
    real = Update.run_pass

    def short(self: Update, batch: Batch, scale: Tensor) -> Tensor:
        if len(batch) > 5:
            raise MemoryError
        return real(self, batch, scale)

    recipe = recipe_in(tmp_path, dropout=0.1, save_every=2)
    monkeypatch.setattr(Update, "run_pass", short)
    train(recipe, tmp_path / "whole", Console(quiet=True))
    room = load_checkpoint(tmp_path / "whole").progress.room
    assert room is not None
    shorter = replace(recipe, train=replace(recipe.train, steps=2))
    train(shorter, tmp_path / "parts", Console(quiet=True))
    monkeypatch.setattr(Update, "run_pass", real)  # more memory now
    resume(tmp_path / "parts", [("steps", "4")], override=True, console=Console(quiet=True))
    a, b = load_checkpoint(tmp_path / "whole").tensors, load_checkpoint(tmp_path / "parts").tensors
    assert all(torch.equal(a[name], b[name]) for name in a)


def test_what_counts_as_out_of_memory() -> None:
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory."))
    assert is_out_of_memory(RuntimeError(SPOKEN))
    assert is_out_of_memory(RuntimeError(ON_ARM))
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError) as real:
        torch.empty(2**60, dtype=torch.uint8)
    assert is_out_of_memory(real.value)


@pytest.mark.long
def test_the_command_line_knows_it_too(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise RuntimeError(ON_ARM)

    monkeypatch.setattr("regard.training.rehearsal.measure", fail)
    done = call("bench", "train", "--preset", "tiny")
    assert done.code == 2
    assert done.err.startswith("regard: out of memory; use a smaller model")


def test_both_random_states_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU's stands in for itself here; the test below has a real one."""
    states = {torch.device("cuda"): torch.tensor([1])}
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: states[device].clone())
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: states.update({device: state}))
    restore = save_random_state(torch.device("cuda"))
    cpu = torch.rand(3)
    states[torch.device("cuda")] = torch.tensor([2])
    restore()
    assert states[torch.device("cuda")].item() == 1
    assert torch.equal(torch.rand(3), cpu)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_retry_on_a_gpu_draws_the_same_dropout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_in(tmp_path, dropout=0.3, device="cuda", share_rows="off")
    update, batches = job.update, [job.data.largest().to("cuda")]
    job.bundle.model.train()
    real, restore_random = update.run_pass, save_random_state(job.bundle.model.device)

    def short(batch: Batch, scale: Tensor) -> Tensor:
        found = real(batch, scale)
        if len(batch) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return found

    monkeypatch.setattr(update, "run_pass", short)
    retried, _ = gradients(update, batches)
    assert job.progress.room is not None
    restore_random()
    at_once, _ = gradients(update, batches)
    assert torch.equal(retried, at_once)
