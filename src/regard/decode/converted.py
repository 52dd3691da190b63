"""Which engine a translator gets: the native one, or CTranslate2 with a converted model.

    auto          on a CPU: CTranslate2 for a model that was exported into its folder, and for a model in the box,
                  which is converted into the user's cache the first time; else the native engine
    native        torch
    ctranslate2   CTranslate2; a model without an export is converted into the cache

A conversion is used only if it was made from exactly these weights (`export/ctranslate2.py`). In the cache its name
holds the checksum of all that it depends on, so one of another model or version is never found.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from regard.bundle import bundled_models
from regard.decode.converted_model import ConvertedModel
from regard.errors import BundleError, InputError, RegardError
from regard.export.ctranslate2 import EXPORTED, export_ctranslate2, read_conversion_info, source_checksum
from regard.files import user_cache

EngineName = Literal["auto", "native", "ctranslate2"]
CACHED_WEIGHTS: Literal["int8"] = "int8"
Say = Callable[[str], None]


def say_on_stderr(line: str) -> None:
    print(f"regard: {line}", file=sys.stderr, flush=True)


def checked_engine(name: str) -> EngineName:
    """What is asked for; for "auto" what the environment variable REGARD_ENGINE says, if it is set."""
    given = os.environ.get("REGARD_ENGINE", "auto") if name == "auto" else name
    for known in get_args(EngineName):
        if given == known:
            engine: EngineName = known
            return engine
    raise InputError(f"engine must be one of {', '.join(get_args(EngineName))}, but is {given!r}")


def converted_for(folder: Path, engine: EngineName, say: Say = say_on_stderr) -> ConvertedModel | None:
    """The converted model for a bundle on the CPU; None: the native engine."""
    if engine == "native":
        return None
    exported = folder / EXPORTED
    made = read_conversion_info(exported) if exported.exists() else None
    if made is None and engine == "auto" and not bundled_models.is_bundled(folder):
        return None
    source = source_checksum(folder)
    if made is not None and made.source == source:
        return ConvertedModel(exported, made)
    if made is not None:
        say(f"{exported} was made from other weights than {folder} has now, and is not used; export it again")
        if engine == "auto":
            return None
    try:
        return cached(folder, source, say)
    except RegardError as problem:
        if engine == "ctranslate2":
            raise
        say(f"CTranslate2 is not used: {problem}")
        return None


def cached(folder: Path, source: str, say: Say = say_on_stderr) -> ConvertedModel:
    """The conversion in the user's cache, made now if it is not there. Several processes may do this at once."""
    place = user_cache() / "ctranslate2" / f"{source[:32]}-{CACHED_WEIGHTS}"
    made = read_conversion_info(place)
    if made is not None and made.source == source:
        try:
            return ConvertedModel(place, made)
        except BundleError:  # damaged: it is made again
            shutil.rmtree(place, ignore_errors=True)
    began = time.perf_counter()
    made = export_ctranslate2(folder, place, CACHED_WEIGHTS)
    say(f"converted {folder.name} for CTranslate2 in {time.perf_counter() - began:.1f} s, once; kept in {place}")
    return ConvertedModel(place, made)
