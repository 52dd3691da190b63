"""What makes two runs the same work: the input, the model, the settings and the version. A run that was stopped goes on
only if all of these are as they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from regard.bundle.folder import beside
from regard.text.glossary import Glossary
from regard.version import __version__

ENDS = 1 << 16  # bytes at the beginning and at the end of the input that are looked at
NO_MATTER = ("progress", "batch_tokens")  # options of `translate` that do not change a translation


def input_identity(path: Path) -> list[Any]:
    """Size, time of the last change, and a checksum of both ends of a file."""
    about = path.stat()
    with path.open("rb") as file:
        ends = file.read(ENDS)
        file.seek(max(0, about.st_size - ENDS))
        ends += file.read(ENDS)
    return [about.st_size, about.st_mtime_ns, hashlib.blake2b(ends, digest_size=16).hexdigest()]


def model_identity(folders: Iterable[Path]) -> str:
    """A checksum of all files of the models."""
    digest = hashlib.blake2b(digest_size=16)
    for folder in folders:
        other = beside(folder)
        for place in (folder, *([other] if other else [])):
            for path in sorted(path for path in place.rglob("*") if path.is_file()):
                digest.update(str(path.relative_to(place)).encode())
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def work_identity(
    input: Path, model: Iterable[Path], settings: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """By what a person would call it: "input", "model", "value of beam" …, as JSON has it."""
    found = {
        "version of regard": __version__,
        "input file, or one that has changed": input_identity(input),
        "model": model_identity(model),
    }
    for name, value in {**settings, **options}.items():
        if name not in NO_MATTER:
            found[f"value of {name}"] = repr(value.terms if isinstance(value, Glossary) else value)
    compared: dict[str, Any] = json.loads(json.dumps(found))
    return compared
