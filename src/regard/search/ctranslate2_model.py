"""A loaded model in CTranslate2's format: its vocabularies, and CTranslate2's translator with its threads."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, get_args

from regard.bundle import bundled_models
from regard.bundle.folder import one_line, read_json
from regard.device import has_torch, missing_torch
from regard.errors import BundleError, InputError, RegardError
from regard.export.ctranslate2 import (
    EXPORTED,
    ConversionInfo,
    export_ctranslate2,
    read_conversion_info,
    read_vocabularies,
    refusal,
    source_checksum,
)
from regard.export.ctranslate2_file import Weights
from regard.files import SharedObjects, user_cache
from regard.search.engine import Ids
from regard.text.vocabulary import SPECIALS
from regard.workers import thread_count

if TYPE_CHECKING:
    from ctranslate2 import Translator

PAD, BOS, EOS = SPECIALS
MOST_WORKERS = 16  # each has its own workspace


class ConvertedModel:
    """A model converted for CTranslate2. Threads may share it."""

    def __init__(self, folder: Path, made: ConversionInfo) -> None:
        """`made` is the conversion info stored in the folder."""
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
        """Whether each source begins with a tag that limits the target vocabulary. CTranslate2 then computes
        probabilities for those pieces only."""
        return bool(self._tags) and all(ids[:1] and ids[0] in self._tags for ids in sources)

    def target_tokens(self, ids: Ids) -> list[str]:
        pieces = self.target
        return [pieces[i] for i in ids]

    def target_ids(self, tokens: Iterable[str]) -> Ids:
        ids = self._ids
        return tuple([ids[token] for token in tokens])

    @property
    def translator(self) -> Translator:
        """The CTranslate2 translator. Its threads do not survive a fork, so a forked process opens the model again."""
        with self._lock:
            if self._opened[0] != os.getpid():
                # Freeing it would wait forever for threads that do not exist here.
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._opened[1]))
                self._opened = (os.getpid(), open_translator(self.folder))
            return self._opened[1]


_models = SharedObjects[ConvertedModel]()


def opened(folder: Path, made: ConversionInfo) -> ConvertedModel:
    """Returns the model in a folder, which two directions of a multilingual model share."""
    return _models.get((folder.resolve(), made), lambda: ConvertedModel(folder, made))


def open_translator(folder: Path) -> Translator:
    """Opens a model with single-threaded workers: faster for usual sizes than fewer multi-threaded ones."""
    import ctranslate2

    cores = thread_count()
    workers = min(cores, MOST_WORKERS)
    try:
        return ctranslate2.Translator(
            str(folder),
            device="cpu",
            inter_threads=workers,
            intra_threads=max(1, cores // workers),
            max_queued_batches=-1,  # no limit: the batches of a call are searched before those of later calls
        )
    except (RuntimeError, ValueError) as problem:
        raise BundleError(f"{folder} cannot be used by CTranslate2: {one_line(problem)}; export it again") from None


EngineName = Literal["auto", "native", "ctranslate2"]
Notify = Callable[[str], None]


def print_notice(line: str) -> None:
    print(f"regard: {line}", file=sys.stderr, flush=True)


def checked_engine(name: str) -> EngineName:
    """Returns the requested engine; for "auto", the value of the environment variable REGARD_ENGINE if it is set, and
    CTranslate2 if torch is not installed."""
    given = os.environ.get("REGARD_ENGINE", "auto") if name == "auto" else name
    for known in get_args(EngineName):
        if given == known:
            engine: EngineName = known
            return engine if engine != "auto" or has_torch() else "ctranslate2"
    raise InputError(f"engine must be one of {', '.join(get_args(EngineName))}, but is {given!r}")


def converted_for(folder: Path, engine: EngineName, notify: Notify = print_notice) -> ConvertedModel | None:
    """Returns the converted model for a bundle on the CPU; None if the native engine is to be used."""
    if engine == "native":
        return None
    exported = folder / EXPORTED
    made = read_conversion_info(exported) if exported.exists() else None
    if made is None and engine == "auto" and not is_converted_when_used(folder):
        return None
    if made is None and not has_torch() and (problem := refusal(read_json(folder / bundled_models.CONFIG))):
        raise missing_torch(f"{folder.name} {problem}, so it")
    source = source_checksum(folder)
    if made is not None and made.source == source:
        return opened(exported, made)
    if made is not None:
        notify(f"{exported} was made from other weights than {folder} has now, and is not used; export it again")
        if engine == "auto":
            return None
    try:
        return cached(folder, source, notify)
    except RegardError as problem:
        if engine == "ctranslate2":
            raise
        notify(f"CTranslate2 is not used: {problem}")
        return None


def is_converted_when_used(folder: Path) -> bool:
    return bundled_models.is_bundled(folder) and refusal(read_json(folder / bundled_models.CONFIG)) is None


def cached(folder: Path, source: str, notify: Notify = print_notice, weights: Weights = "int8") -> ConvertedModel:
    """Returns the conversion in the user's cache; creates it if missing. Several processes may do this at once."""
    place = user_cache() / "ctranslate2" / f"{source[:32]}-{weights}"
    made = read_conversion_info(place)
    if made is not None and made.source == source:
        try:
            return opened(place, made)
        except BundleError:  # damaged: convert again
            shutil.rmtree(place, ignore_errors=True)
    began = time.perf_counter()
    made = export_ctranslate2(folder, place, weights)
    notify(f"converted {folder.name} for CTranslate2 in {time.perf_counter() - began:.1f} s, once; kept in {place}")
    return opened(place, made)
