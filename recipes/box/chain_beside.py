"""The student's text is encoded beside other work, on cores that are idle: what is there already, and what the teacher
says as soon as a text is finished. When the student begins, it is in the cache."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from regard.bundle.folder import TOKENIZER
from regard.data.epochs import BackgroundEncoder
from regard.data.splits import TrainingCorpus, find_splits
from regard.errors import RegardError
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from chain import Chain

LOOK_EVERY = 2.0  # seconds


@contextmanager
def encoding_beside(chain: Chain, vocabulary: Path) -> Iterator[None]:
    """While the block runs, if that is on a GPU, with the vocabulary in this folder. What is being encoded at its end
    is completed; where this fails, encoding is left to a later stage."""
    if chain.device != "cuda":
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_encode_until, args=(chain, vocabulary, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _encode_until(chain: Chain, vocabulary: Path, ended: threading.Event) -> None:
    known: set[TrainingCorpus] = set()
    with suppress(RegardError, OSError):
        tokenizer = Tokenizer.load(vocabulary / TOKENIZER)
        while not ended.is_set():
            known |= set(encode_new(chain, tokenizer, known))
            ended.wait(LOOK_EVERY)


def encode_new(chain: Chain, tokenizer: Tokenizer, known: set[TrainingCorpus]) -> list[TrainingCorpus]:
    """Encode, in a process that gives way to others, the student's corpora that are there and not known yet."""
    recipe = chain.recipe("student")
    new = [corpus for corpus in find_splits(recipe.data).train if corpus not in known]
    if new:
        work = BackgroundEncoder(new, tokenizer, recipe.data, recipe.train.seed)
        work.begin(0)
        work.wait()
    return new
