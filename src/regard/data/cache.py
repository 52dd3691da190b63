"""The cache of encoded corpora (`encode.py`), learnt vocabularies and known words.

They are pure functions of the text and the settings, so a cached one equals a new one. One that cannot be read is
learnt again; if nothing can be written, nothing is cached.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path

import tokenizers

from regard.data.config import DataConfig
from regard.errors import BundleError, InputError
from regard.files import user_cache, write_atomically
from regard.text.known_words import FIRST_LINE, KnownWords
from regard.text.tokenizer import FORMAT, TextConfig, Tokenizer


def cache_folder(config: DataConfig) -> Path:
    """data.cache of the recipe, else $REGARD_CACHE, else the user's cache folder."""
    return Path(config.cache).expanduser() if config.cache else user_cache()


def words_known_before(
    data: DataConfig, fingerprint: str, language: str, learn: Callable[[], KnownWords]
) -> KnownWords:
    """The words of the text with this fingerprint, from the cache or learnt now."""
    name = hashlib.blake2b(repr((FIRST_LINE, fingerprint, language)).encode(), digest_size=12).hexdigest()
    path = cache_folder(data) / f"{name}.words.txt"
    try:
        return KnownWords.load(path)
    except (InputError, OSError):
        known = learn()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        known.save(path)
    return known


def learnt_before(data: DataConfig, text: TextConfig, fingerprint: str, learn: Callable[[], Tokenizer]) -> Tokenizer:
    """The vocabulary of the text with this fingerprint, from the cache or learnt now."""
    asked = (FORMAT, tokenizers.__version__, fingerprint, dataclasses.astuple(text))
    name = hashlib.blake2b(repr(asked).encode(), digest_size=12).hexdigest()
    path = cache_folder(data) / f"{name}.tokenizer.json"
    try:
        return Tokenizer.load(path)
    except BundleError:
        tokenizer = learn()
    with contextlib.suppress(OSError, BundleError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, tokenizer.save)
    return tokenizer
