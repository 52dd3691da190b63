"""Zip archives: read within bounds, written by copying."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import InputError
from regard.formats.archive import MAX_BYTES, open_archive


def archive_of(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.comment = comment
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


@given(
    st.dictionaries(st.text("abc/.é", min_size=1, max_size=6), st.binary(max_size=200), min_size=1, max_size=5),
    st.sampled_from([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]),
    st.binary(max_size=5).filter(lambda comment: b"PK" not in comment),
    st.data(),
)
def test_changed_parts_change_and_others_stay(
    parts: dict[str, bytes], method: int, comment: bytes, drawn: st.DataObject
) -> None:
    data = archive_of(parts, method, comment)
    archive = open_archive(data, "ODT")
    assert archive.replaced({}) == data
    changed = drawn.draw(st.dictionaries(st.sampled_from(sorted(parts)), st.binary(max_size=300)))
    with (
        zipfile.ZipFile(io.BytesIO(data)) as before,
        zipfile.ZipFile(io.BytesIO(archive.replaced(changed))) as after,
    ):
        assert after.testzip() is None
        assert after.namelist() == before.namelist()
        assert after.comment == comment
        for name in parts:
            assert after.read(name) == changed.get(name, parts[name])
            for field in ("date_time", "compress_type", "external_attr", "extra", "comment"):
                assert getattr(after.getinfo(name), field) == getattr(before.getinfo(name), field)


def test_a_part_whose_sizes_follow_it_is_replaced() -> None:
    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: object) -> int:
            raise io.UnsupportedOperation

    out = Unseekable()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.xml", b"first")
        archive.writestr("b.xml", b"second")
    new = open_archive(out.getvalue(), "ODT").replaced({"a.xml": b"a new text"})
    with zipfile.ZipFile(io.BytesIO(new)) as opened:
        assert opened.testzip() is None
        assert (opened.read("a.xml"), opened.read("b.xml")) == (b"a new text", b"second")


def test_a_bomb_is_refused_by_the_size_it_states() -> None:
    data = archive_of({"bomb.xml": b"\0" * (MAX_BYTES + 1)})
    with pytest.raises(InputError, match="more than"):
        open_archive(data, "DOCX").part("bomb.xml")


def test_a_bomb_that_lies_about_its_size_is_refused_in_bounded_memory() -> None:
    data = bytearray(archive_of({"bomb.xml": b"\0" * 50_000_000}))
    central = data.rfind(b"PK\1\2")
    struct.pack_into("<L", data, central + 24, 1000)
    archive = open_archive(bytes(data), "DOCX")
    tracemalloc.start()
    with pytest.raises(InputError):
        archive.part("bomb.xml", most=2000)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_parts_together_are_bounded() -> None:
    third = b"\0" * (MAX_BYTES // 3 + 1)
    archive = open_archive(archive_of({"a": third, "b": third, "c": third}), "ODT")
    with pytest.raises(InputError, match="part c"):
        archive.parts(["a", "b", "c"])


def test_overlapping_members_and_too_many_are_refused() -> None:
    data = bytearray(archive_of({"a": b"x" * 50, "b": b"y" * 50}, zipfile.ZIP_STORED))
    second = data.rfind(b"PK\1\2")
    struct.pack_into("<L", data, second + 42, 0)  # both members are the first one's bytes
    with pytest.raises(InputError, match="damaged"):
        open_archive(bytes(data), "ODT")
    with pytest.raises(InputError, match="10001 parts"):
        open_archive(archive_of({str(number): b"" for number in range(10001)}), "ODT")


def test_encrypted_members_are_refused() -> None:
    data = bytearray(archive_of({"a.xml": b"x"}))
    data[data.rfind(b"PK\1\2") + 8] |= 1
    with pytest.raises(InputError, match="encrypted"):
        open_archive(bytes(data), "ODT").part("a.xml")


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        open_archive(b"PK\3\4" + data, "ODT").part("a.xml")
    assert "\n" not in str(caught.value)
