"""The tables of the language identifier, ready to be mapped into memory.

py3langid keeps its model (139 languages, naive Bayes over byte n-grams) in a compressed file, which takes 0.7 s and
100 MB to unpack. Here it is unpacked once, into the user's cache (68 MB), and from then on a process maps the tables
and reads what it needs of them. Where nothing can be written, the model is unpacked in each process.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.files import user_cache

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

NAMES = ("ptc", "pc", "classes", "nextmove", "row", "output")


def load_identifier() -> LanguageIdentifier:
    """The identifier with unnormalised log-probabilities."""
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier
    from py3langid.modelio import load_model

    packed = MODEL_DIR / MODEL_FILE
    state = packed.stat()
    folder = user_cache() / "language" / f"{state.st_size}-{state.st_mtime_ns}"  # another one after an upgrade
    try:
        tables = mapped(folder)
    except (OSError, ValueError):  # not there yet, or damaged
        tables = load_model(packed)
        with contextlib.suppress(OSError):
            store(folder, tables)
    ptc, pc, classes, nextmove, row, output = tables
    return LanguageIdentifier(ptc, pc, classes, nextmove, output, norm_probs=False, tk_row=row)


def mapped(folder: Path) -> tuple[Any, ...]:
    """The six tables of a folder, in the form in which `LanguageIdentifier` takes them: those that are looked up entry
    by entry as memory views, whose entries are Python's own numbers."""
    ptc, pc, classes, *looked_up = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in NAMES)
    return ptc, pc, classes.tolist(), *(memoryview(table) for table in looked_up)


def store(folder: Path, tables: tuple[Any, ...]) -> None:
    """Write the tables so that the folder appears whole; those of other versions are removed."""
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        for name, table in zip(NAMES, tables, strict=True):
            np.save(temporary / f"{name}.npy", np.asarray(table, dtype=np.int32 if name == "output" else None))
        others = [path for path in folder.parent.iterdir() if path != temporary]
        for other in others:  # of an older version, damaged, or left by a process that was killed
            shutil.rmtree(other, ignore_errors=True)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
