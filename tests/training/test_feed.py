"""Batches made ready in another process are those of the stream itself, in its order, with the same place to go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# A process of its own, in which others are spawned unless one says otherwise, as on many machines with a GPU. The
# corpus is that of a real run: what makes it is a function inside `make_batches`, which cannot be sent to another.
SCRIPT = """
import itertools, multiprocessing, sys
import torch
from rich.console import Console
from regard.models.table import make_model
from regard.data.corpus import read_pairs
from regard.data.splits import find_splits
from regard.recipe.read import read_recipe
from regard.text.tokenizer import Tokenizer
from regard.training.checkpoint import Progress
from regard.training.cost import FlopCounter
from regard.training.feed import BatchStream, feed, prefetch
from regard.training.training_data import make_batches

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    src, tgt = sys.argv[1:]
    data = {"src": src, "tgt": tgt, "dev_size": 0, "max_length": 60}
    recipe = read_recipe({"data": data, "text": {"vocab_size": 340}, "train": {"batch_tokens": 64}})
    train = find_splits(recipe.data).train
    tokenizer = Tokenizer.train(lambda: read_pairs(train[0].files), recipe.text)
    cost = FlopCounter(make_model(recipe.architecture, recipe.model, tokenizer))
    for shared in (False, True):

        def batches():
            progress = Progress(shared_rows=shared)
            return make_batches(recipe.data, recipe.train, train, tokenizer, progress, Console(quiet=True))

        made_here = list(itertools.islice(feed(batches(), cost, torch.device("cpu")), 40))
        made_ahead = list(itertools.islice(prefetch(BatchStream(batches(), cost), pin=False), 40))
        for here, there in zip(made_here, made_ahead, strict=True):
            pairs = zip(here.batch.tensors(), there.batch.tensors(), strict=True)
            assert all(torch.equal(a, b) for a, b in pairs)
            for name in ("tokens", "flops", "epoch", "index", "width"):
                assert getattr(here, name) == getattr(there, name), name
        print(made_ahead[-1].epoch > 1, made_ahead[-1].width > 0)

        given, begun = batches(), []
        given.begin_epoch = lambda epoch: begun.append((epoch, given.epoch))
        list(itertools.islice(BatchStream(given, cost), 40))
        assert begun == []
        list(itertools.islice(BatchStream(given, cost, encodes_ahead=True), 200))
        assert begun == [(epoch + 1, epoch) for _, epoch in begun] and len(set(begun)) == len(begun) > 2, begun
"""


@pytest.mark.long
def test_another_process_makes_the_same_batches_though_processes_are_spawned(text_files: tuple[Path, Path]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, *map(str, text_files)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False", "True", "True"]  # over several epochs; rows of one width


FAILING = """
import sys
from pathlib import Path
import regard.training.feed as feeding
from regard.recipe.read import read_recipe
from regard.training.run import train
from regard.training.update import Update
from regard.workers import in_new_process


def break_down(src, tgt, out):
    feeding.uses_worker = lambda device: True  # as for a GPU
    made, learn = [], Update.__call__

    def learn_twice(self, micro):
        made.append(micro)
        if len(made) > 2:
            raise RuntimeError("the third update fails")
        return learn(self, micro)

    Update.__call__ = learn_twice
    data = {"src": src, "tgt": tgt, "dev_size": 0, "max_length": 60}
    model = {"width": 16, "heads": 2, "inner": 16, "encoder_layers": 1, "decoder_layers": 1}
    train(read_recipe({"data": data, "text": {"vocab_size": 340}, "model": model, "train": {"steps": 5}}), Path(out))


if __name__ == "__main__":
    try:
        in_new_process(break_down, *sys.argv[1:])
    except RuntimeError as problem:
        print(problem)
"""


@pytest.mark.long
def test_a_training_that_breaks_down_beside_the_process_that_feeds_it_ends(
    text_files: tuple[Path, Path], tmp_path: Path
) -> None:
    """That process hears no SIGTERM, with which Python would end it when the training's process ends: it has to be
    let go before, or both wait for ever."""
    script = tmp_path / "failing.py"
    script.write_text(FAILING)
    done = subprocess.run(
        [sys.executable, str(script), *map(str, text_files), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.splitlines()[-1] == "the third update fails", done.stderr
