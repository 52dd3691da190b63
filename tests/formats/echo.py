"""For tests of formats: placed segments without a translator, and archives with other parts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from regard.formats.document import PlacedSegment, Segment
from regard.formats.inline import source_pieces

DOCUMENTS = Path(__file__).parent / "documents"


def same(segments: Sequence[Segment]) -> list[PlacedSegment]:
    return [PlacedSegment(source_pieces(segment), unchanged=True) for segment in segments]


def shouted(segments: Sequence[Segment]) -> list[PlacedSegment]:
    """In capitals, everything in its place."""
    return [
        PlacedSegment(tuple(piece.upper() if isinstance(piece, str) else piece for piece in source_pieces(segment)))
        for segment in segments
    ]


def parts_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def changed_document(data: bytes, /, **parts: bytes) -> bytes:
    """The archive with other parts, named without folder and suffix."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts_of(data).items():
            archive.writestr(name, parts.get(name.rpartition("/")[2].removesuffix(".xml"), content))
    return out.getvalue()
