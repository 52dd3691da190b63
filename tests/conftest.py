"""What many tests share: a tiny corpus of our own, a tokenizer over it, a model that learnt it by heart."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

import regard
from regard.batch import Batch, pack
from regard.decode.translate import Translator
from regard.text.tokenizer import TextConfig, Tokenizer
from support import LINES, TINY, write_lines


@pytest.fixture(scope="session", autouse=True)
def _apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests never touch the user's cache, and run side by side on one thread each."""
    os.environ["REGARD_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["OMP_NUM_THREADS"] = "1"  # for the processes they start
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(lambda: iter(LINES * 3), TextConfig(vocab_size=360))


@pytest.fixture
def text_files(tmp_path: Path) -> tuple[Path, Path]:
    return write_lines(tmp_path)


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run through the public interface, long enough to learn eight sentences by heart."""
    home = tmp_path_factory.mktemp("run")
    src, tgt = (str(path) for path in write_lines(home))
    recipe = {
        "data": {
            "src": src,
            "tgt": tgt,
            "dev_src": src,
            "dev_tgt": tgt,
            "test_src": src,
            "test_tgt": tgt,
            "max_length": 100,
        },
        "text": {"vocab_size": 360},
        "model": TINY,
        "train": {
            "steps": 120,
            "batch_tokens": 600,
            "learning_rate": 1e-2,
            "schedule": "cosine",
            "warmup": 10,
            "eval_every": 60,
            "save_every": 60,
            "device": "cpu",
        },
    }
    outcome = regard.train(recipe, home / "run")
    assert outcome.ending == "finished"
    return outcome.run


@pytest.fixture(scope="session")
def translator(run_folder: Path) -> Translator:
    return regard.load(run_folder, device="cpu")


@pytest.fixture
def batch() -> Batch:
    """Three pairs of different lengths over a vocabulary of 23."""
    generator = torch.Generator().manual_seed(5)

    def sentence(length: int) -> list[int]:
        return torch.randint(3, 23, (length,), generator=generator).tolist()

    return pack([sentence(n) for n in (5, 2, 7)], [sentence(n) for n in (4, 6, 1)]).pad()
