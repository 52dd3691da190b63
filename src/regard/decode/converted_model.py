"""A model in CTranslate2's format, opened: its vocabularies, and CTranslate2's translator with its threads."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from regard.bundle.json_file import one_line
from regard.decode.engine import Ids
from regard.errors import BundleError
from regard.export.ctranslate2 import Made, read_vocabularies
from regard.text.vocabulary import SPECIALS
from regard.workers import thread_count

if TYPE_CHECKING:
    from ctranslate2 import Translator

PAD, BOS, EOS = SPECIALS
MOST_WORKERS = 16  # each has a workspace of its own


class ConvertedModel:
    """Threads may share it."""

    def __init__(self, folder: Path, made: Made) -> None:
        """`made` is what the folder says of itself."""
        self.folder, self.made = folder, made
        self.source, self.target = read_vocabularies(folder)
        self._ids = {token: i for i, token in enumerate(self.target)}
        tags = made.tags.split()
        self._tags = frozenset(i for i, token in enumerate(self.source) if token in tags) if tags else frozenset()
        self._lock = Lock()
        self._opened = (os.getpid(), open_translator(folder))

    def source_tokens(self, ids: Ids) -> list[str]:
        pieces = self.source
        tokens = [pieces[i] for i in ids]
        tokens.append(EOS)
        return tokens

    def limited(self, sources: Iterable[Ids]) -> bool:
        """Whether each of these begins with a tag after which only some pieces are written. CTranslate2 then computes
        the probabilities of these alone."""
        return bool(self._tags) and all(ids[:1] and ids[0] in self._tags for ids in sources)

    def target_tokens(self, ids: Ids) -> list[str]:
        pieces = self.target
        return [pieces[i] for i in ids]

    def target_ids(self, tokens: Iterable[str]) -> Ids:
        ids = self._ids
        return tuple([ids[token] for token in tokens])

    @property
    def translator(self) -> Translator:
        """Its threads do not survive a fork, so a forked process opens the model again."""
        with self._lock:
            if self._opened[0] != os.getpid():
                # Freeing it would wait for ever for the threads that are not there.
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._opened[1]))
                self._opened = (os.getpid(), open_translator(self.folder))
            return self._opened[1]


def open_translator(folder: Path) -> Translator:
    """Workers of one thread: for models of usual size that is faster than fewer workers of several threads."""
    import ctranslate2

    cores = thread_count()
    workers = min(cores, MOST_WORKERS)
    try:
        return ctranslate2.Translator(
            str(folder), device="cpu", inter_threads=workers, intra_threads=max(1, cores // workers)
        )
    except (RuntimeError, ValueError) as problem:
        raise BundleError(f"{folder} cannot be used by CTranslate2: {one_line(problem)}; export it again") from None
