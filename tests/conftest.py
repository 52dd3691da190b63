"""What many tests share: a tiny corpus of our own, a tokenizer over it, a model that learnt it by heart, and a command
line without a process of its own."""

from __future__ import annotations

import fcntl
import functools
import gc
import importlib.util
import io
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import typer.main
from hypothesis import settings

import regard
from contexts import train_contexts
from regard.batch import Batch, flat_batch
from regard.bundle import bundled_models, tensors
from regard.cli import main
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.translator import Translator
from registers import train_registers
from support import LINES, TINY, Answer, Call, write_lines

# the browser tests need more than the other ones (pip install regard[browser])
collect_ignore = [] if importlib.util.find_spec("playwright") else ["browser"]

# How long an example takes says how busy the machine is; every run draws others.
settings.register_profile("regard", deadline=None, max_examples=25)
settings.load_profile("regard")

# A job of the background ignores Ctrl-C, one under nohup the end of its terminal, and so would their children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """A million objects stay from here to the end; looking through them for garbage takes most of a second a time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests never touch the user's cache, and run side by side on one thread each."""
    os.environ["REGARD_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["REGARD_ENGINE"] = "native"  # 8-bit products may differ from CPU to CPU; tests of others name theirs
    os.environ["OMP_NUM_THREADS"] = "1"  # for the processes they start
    torch.set_num_threads(1)
    # A bundled model is read from its files once in a process; loading copies what was read.
    read = functools.cache(tensors._read_tensors)
    everything = tensors._read_tensors
    tensors._read_tensors = lambda path: (read if bundled_models.HOME in path.parents else everything)(path)
    # Commands called in this process share one parser: making it takes a tenth of a second, and there are hundreds.
    typer.main.get_command = functools.cache(typer.main.get_command)


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(lambda: iter(LINES * 3), TextConfig(vocab_size=360))


@pytest.fixture
def text_files(tmp_path: Path) -> tuple[Path, Path]:
    return write_lines(tmp_path)


def made_once(factory: pytest.TempPathFactory, make: Callable[[Path], Path]) -> Path:
    """Returns what `make` made in a folder, for all workers of a test run: the first one that asks makes it."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    home, note = base / make.__name__, base / f"{make.__name__}.made"
    with (base / f"{make.__name__}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not note.exists():
            home.mkdir()
            note.write_text(str(make(home)))
    return Path(note.read_text())


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run through the public interface, long enough to learn eight sentences by heart."""
    return made_once(tmp_path_factory, train_by_heart)


def train_by_heart(home: Path) -> Path:
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
def quick_processes(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that translate with `run_folder` need no torch and start in half a second: its conversion is made."""
    regard.load(run_folder, device="cpu", engine="ctranslate2")
    monkeypatch.setenv("REGARD_ENGINE", "ctranslate2")


@pytest.fixture(scope="session")
def _box_converted() -> None:
    regard.load("en-fr", device="cpu", engine="ctranslate2")  # it says so once, which no test should have to expect


@pytest.fixture
def usual_engine(_box_converted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What users get, several times as fast as the native engine: for the model in the box, where a test asks for words
    that do not hang on a last bit."""
    monkeypatch.setenv("REGARD_ENGINE", "auto")


@pytest.fixture(scope="session")
def both_ways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learnt eight sentences by heart both ways: French to English with the tag <en>."""
    return made_once(tmp_path_factory, train_both_ways)


def train_both_ways(home: Path) -> Path:
    src, tgt = (str(path) for path in write_lines(home))
    back = {"src": tgt, "tgt": src, "tag": "<en>"}
    recipe = {
        "data": {"src": src, "tgt": tgt, "dev_size": 0, "max_length": 24, "corpus": [back]},
        "text": {"vocab_size": 360, "tags": ["<en>"]},
        "model": TINY,
        "train": {
            "steps": 90,
            "batch_tokens": 1200,
            "learning_rate": 1e-2,
            "schedule": "cosine",
            "warmup": 10,
            "save_every": 90,
            "device": "cpu",
        },
    }
    return regard.train(recipe, home / "run").run


@pytest.fixture(scope="session")
def registers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the bundles en-fr, with tags for both registers, and fr-en, without (`registers.py`)."""
    return made_once(tmp_path_factory, train_registers)


@pytest.fixture(scope="session")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bundle that translates pronouns in context (`contexts.py`)."""
    return made_once(tmp_path_factory, train_contexts)


@pytest.fixture
def batch() -> Batch:
    """Three pairs of different lengths over a vocabulary of 23."""
    generator = torch.Generator().manual_seed(5)

    def sentence(length: int) -> list[int]:
        return torch.randint(3, 23, (length,), generator=generator).tolist()

    return flat_batch([sentence(n) for n in (5, 2, 7)], [sentence(n) for n in (4, 6, 1)]).pad()


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command line where a process would add nothing but two seconds; `support.regard` is a real one."""

    def run(*words: str | Path, input: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(input)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Answer(left.value.code, out, err)

    return run
