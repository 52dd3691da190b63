"""Reads and writes the vocabulary files of a model in Marian's format, as Hugging Face stores it.

source.spm  target.spm   SentencePiece models of both languages
vocab.json               the id of each piece, of both languages
target_vocab.json        the target's ids, if the vocabularies are separate
"""

from __future__ import annotations

import json
from pathlib import Path

from regard.errors import BundleError, InputError
from regard.text.sentencepiece import SentencePieceVocabulary, load_processor
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.text.vocabulary import SPECIALS, UNKNOWN

SOURCE_MODEL, TARGET_MODEL, IDS, TARGET_IDS = "source.spm", "target.spm", "vocab.json", "target_vocab.json"
MAX_BYTES = 100_000_000  # maximal size of a file
REQUIRED = (SPECIALS[0], SPECIALS[2], UNKNOWN)  # entries that a vocab.json must have


def read_marian_tokenizer(folder: Path) -> Tokenizer:
    """Reads the tokenizer of a model folder. Raises InputError."""
    models = [_read(folder, name) for name in (SOURCE_MODEL, TARGET_MODEL)]
    for name, model in zip((SOURCE_MODEL, TARGET_MODEL), models, strict=True):
        try:
            load_processor(model)
        except BundleError:
            damaged = folder / name
            raise InputError(f"{damaged} is not a SentencePiece model, or it is damaged; fetch it again") from None
    joint = not (folder / TARGET_IDS).is_file()
    ids = [_read_ids(folder / IDS)] if joint else [_read_ids(folder / IDS), _read_ids(folder / TARGET_IDS)]
    source = SentencePieceVocabulary.imported(models[0], ids[0])
    target = SentencePieceVocabulary.imported(models[1], ids[-1])
    tags = target.tags if joint else source.tags
    return Tokenizer(source, target, TextConfig("sentencepiece", max(5, len(target)), joint, tags))


def marian_files(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Returns name → content of the files that `read_marian_tokenizer` reads."""
    source, target = tokenizer.source, tokenizer.target
    if not isinstance(source, SentencePieceVocabulary) or not isinstance(target, SentencePieceVocabulary):
        raise InputError(
            f"only pieces of SentencePiece have such files, but this vocabulary is {tokenizer.config.unit}"
        )
    files = {SOURCE_MODEL: source.model, TARGET_MODEL: target.model, IDS: _as_json(source.imported_ids)}
    return files if tokenizer.config.joint else files | {TARGET_IDS: _as_json(target.imported_ids)}


def _as_json(ids: dict[str, int]) -> bytes:
    return json.dumps(ids, ensure_ascii=False, indent=0).encode() + b"\n"


def _read(folder: Path, name: str) -> bytes:
    path = folder / name
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} has more than {MAX_BYTES:,} bytes; it is not a file of a vocabulary")
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(
            f"{folder} has no {name}; the vocabulary of a Marian model is {SOURCE_MODEL}, {TARGET_MODEL} and {IDS}"
        ) from None
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from None


def _read_ids(path: Path) -> dict[str, int]:
    try:
        found = json.loads(_read(path.parent, path.name))
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not JSON ({problem}); fetch it again") from None
    if not isinstance(found, dict) or not all(type(i) is int for i in found.values()):
        raise InputError(f'{path} must give every piece its id, as in {{"</s>": 0, "<unk>": 1}}')
    if missing := [name for name in REQUIRED if name not in found]:
        raise InputError(f"{path} lacks {', '.join(missing)}; it is not the vocabulary of a Marian model")
    if sorted(found.values()) != list(range(len(found))):
        raise InputError(f"{path} must have the ids 0 to {len(found) - 1:,}, each once")
    return found
