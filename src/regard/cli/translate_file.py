"""A document, translated into another file of the same format."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.doubts import Doubts
from regard.cli.process import warn
from regard.cli.translate_lines import Counter, progress_wanted
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.translation.chain import TextChain
    from regard.translation.translation import Translation
    from regard.translation.translator import TextTranslator

LARGEST = 200_000_000  # bytes of a document, which is read as a whole
SHOWN = 5  # warnings


def translate_file(
    translator: TextTranslator | TextChain,
    options: dict[str, Any],
    input: Path,
    out: Path | None,
    format: str,
    columns: Sequence[str],
    doubts: Doubts,
) -> None:
    """`options` are those of `Translator.translate`. Nothing is written until all is translated."""
    from regard.formats.document import FormatOptions
    from regard.formats.table import checked_format
    from regard.formats.translate_document import translate_document

    if out is None and checked_format(format).binary and sys.stdout.isatty():
        raise InputError(f"a {format} document cannot be shown in a terminal; name a file with --output")
    counter = Counter()
    progress = counter.add if progress_wanted(out) else None

    def translate(texts: Sequence[str], wrapped: bool) -> Sequence[Translation]:
        split = "wrapped" if wrapped and options["split"] == "sentences" else options["split"]
        return translator.translate(texts, **(options | {"split": split}), progress=progress)

    target = translator.languages(options["tag"])[1] or ""
    chosen = FormatOptions(options["split"] == "wrapped", tuple(columns), target)
    found = translate_document(read_document(input), format, translate, chosen)
    counter.end()
    for number, (segment, translation) in enumerate(zip(found.segments, found.translations, strict=True), start=1):
        doubts.add(segment.place or f"segment {number}", translation, lines=format == "text")
    write_document(out, found.data)
    for line in found.warnings[:SHOWN]:
        warn(line)
    if len(found.warnings) > SHOWN:
        warn(f"{len(found.warnings) - SHOWN:,} more remarks of this kind")


def read_document(path: Path) -> bytes:
    from regard.data.compressed import COMPRESSED, DAMAGED

    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    try:
        with COMPRESSED.get(path.suffix, open)(path, "rb") as file:
            data = bytes(file.read(LARGEST + 1))
    except (OSError, *DAMAGED) as problem:
        raise InputError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(data) > LARGEST:
        raise InputError(f"{path} is too large: documents of at most {LARGEST:,} bytes can be translated as a whole")
    return data


def write_document(path: Path | None, data: bytes) -> None:
    from regard.data.compressed import COMPRESSED
    from regard.files import write_atomically

    def write(place: Path) -> None:
        with COMPRESSED.get(path.suffix if path else "", open)(place, "wb") as file:
            file.write(data)

    if path is None:
        sys.stdout.flush()
        getattr(sys.stdout, "buffer").write(data)  # noqa: B009 - a terminal's stream is wrapped
        sys.stdout.flush()
    elif path.exists() and not path.is_file():
        write(path)  # a pipe or a device: nothing may take its place
    else:
        write_atomically(path.resolve(), write)
