"""The cache of encoded corpora (`encode.py`), learnt vocabularies and known words.

They are pure functions of the text and the settings, so a cached entry equals a new one. An entry that cannot be read
is learnt again; if the cache cannot be written, nothing is cached.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from regard.data.config import DataConfig
from regard.errors import BundleError, InputError
from regard.files import user_cache, write_atomically
from regard.text.known_words import FIRST_LINE, KnownWords
from regard.text.tokenizer import FORMAT, TextConfig, Tokenizer

T = TypeVar("T")


def cache_folder(config: DataConfig) -> Path:
    """Returns data.cache of the recipe, else $REGARD_CACHE, else the user's cache folder."""
    return Path(config.cache).expanduser() if config.cache else user_cache()


def cached_known_words(
    data: DataConfig, fingerprint: str, language: str, learn: Callable[[], KnownWords]
) -> KnownWords:
    """Returns the words of the text with this fingerprint, from the cache or newly learnt."""
    path = _entry(data, (FIRST_LINE, fingerprint, language), "words.txt.gz")
    return _cached(path, KnownWords.load, learn, lambda known: known.save(path))


def cached_tokenizer(data: DataConfig, text: TextConfig, fingerprint: str, learn: Callable[[], Tokenizer]) -> Tokenizer:
    """Returns the vocabulary of the text with this fingerprint, from the cache or newly learnt."""
    settings = (FORMAT, version("tokenizers"), fingerprint, dataclasses.astuple(text))
    path = _entry(data, settings, "tokenizer.json")
    return _cached(path, Tokenizer.load, learn, lambda tokenizer: write_atomically(path, tokenizer.save))


def _entry(data: DataConfig, settings: tuple[object, ...], suffix: str) -> Path:
    name = hashlib.blake2b(repr(settings).encode(), digest_size=12).hexdigest()
    return cache_folder(data) / f"{name}.{suffix}"


def _cached(path: Path, load: Callable[[Path], T], learn: Callable[[], T], save: Callable[[T], None]) -> T:
    try:
        return load(path)
    except (BundleError, InputError, OSError):
        learnt = learn()
    with contextlib.suppress(OSError, BundleError):
        path.parent.mkdir(parents=True, exist_ok=True)
        save(learnt)
    return learnt
