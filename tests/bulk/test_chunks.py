"""Where a file is cut: whole lines, whole paragraphs, always in the same places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.bulk import chunks
from regard.bulk.chunks import line_chunks, paragraphs

LINES = st.lists(st.sampled_from([b"a\n", b"\n", b" \n", b"bb\r\n", "é\n".encode(), b"\xc2\xa0\n"]), max_size=40)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_CHUNK_LINES", 3)


@given(LINES, st.booleans(), st.sampled_from([b"", b"last"]))
def test_chunks_hold_all_lines_and_count_texts(lines: list[bytes], wrapped: bool, last: bytes) -> None:
    lines = [*lines, *([last] if last else [])] or [b"x\n"]
    found = list(line_chunks(iter(lines), wrapped))
    assert b"".join(chunk.data for chunk in found) == b"".join(lines)
    assert [chunk.number for chunk in found] == list(range(len(found)))
    texts: list[str] = []
    read = 0
    for chunk in found:
        assert (chunk.first, chunk.first_line) == (len(texts), read + 1)
        decoded = chunk.data.decode().removesuffix("\n").split("\n")
        decoded = [line.removesuffix("\r") for line in decoded]
        some = list(paragraphs(decoded)) if wrapped else decoded
        assert (chunk.texts, chunk.lines) == (len(some), len(decoded))
        texts, read = texts + some, read + chunk.lines
    whole = [line.removesuffix("\r") for line in b"".join(lines).decode().removesuffix("\n").split("\n")]
    assert texts == (list(paragraphs(whole)) if wrapped else whole)


def test_long_lines_make_small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_CHUNK_BYTES", 10)
    assert [chunk.lines for chunk in line_chunks(iter([b"x" * 50 + b"\n"] * 3))] == [1, 1, 1]
    monkeypatch.setattr(chunks, "MAX_PARAGRAPH_BYTES", 20)  # a paragraph without an end
    assert [chunk.lines for chunk in line_chunks(iter([b"123456789\n"] * 6), wrapped=True)] == [2, 2, 2]
