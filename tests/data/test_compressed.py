"""Compressed files: written, read, joined, cut off, and what is said where a package is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.compressed import COMPRESSED, member
from regard.data.corpus import PairFiles, read_pairs
from regard.data.text_files import read_lines
from regard.errors import InputError

SUFFIXES = sorted(COMPRESSED)
LINES = [f"line {i}".encode() * 20 for i in range(3000)]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_members_one_after_another_are_one_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.en{suffix}"
    path.write_bytes(b"".join(member(suffix, line + b"\n") for line in LINES[:50]))
    assert [line.encode() for line in read_lines(path)] == LINES[:50]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_written_file_is_read_again(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.en{suffix}"
    with COMPRESSED[suffix](path, "wt", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(line.decode() for line in LINES))
    assert [line.encode() for line in read_lines(path)] == LINES
    with COMPRESSED[suffix](path, "rt", encoding="utf-8") as file:
        assert file.readline() == LINES[0].decode() + "\n"


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("damage", ["cut", "false", "bytes"])
def test_damage_is_an_error_and_never_an_early_end(suffix: str, damage: str, tmp_path: Path) -> None:
    whole = member(suffix, b"".join(line + b"\n" for line in LINES))
    path = tmp_path / f"a.en{suffix}"
    middle = len(whole) // 2
    made = {"cut": whole[:-9], "false": b"plain text\n", "bytes": whole[:middle] + b"\xff" * 30 + whole[middle + 30 :]}
    path.write_bytes(made[damage])
    with pytest.raises(InputError, match=f"is damaged or not {suffix[1:]}"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pairs_of_every_kind_of_compression(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.tsv{suffix}"
    path.write_bytes(member(suffix, b"a\tb\nc\td\n"))
    assert list(read_pairs(PairFiles((path,)))) == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize(("magic", "suffix"), [(b"BZh91AY", ".bz2"), (b"\x28\xb5\x2f\xfd\0\0", ".zst")])
def test_a_compressed_file_without_its_suffix(magic: bytes, suffix: str, tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes(magic)
    with pytest.raises(InputError, match=f'rename it to end in "{suffix}"'):
        list(read_lines(tmp_path / "a.en"))


def test_zst_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.en.zst").write_bytes(member(".zst", b"a\n"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(InputError, match=r'needs the package zstandard; install it: pip install "regard\[zstd\]"'):
        list(read_lines(tmp_path / "a.en.zst"))


@given(st.lists(st.binary(max_size=50), max_size=8))
def test_zst_frames_of_any_content(parts: list[bytes]) -> None:
    import io

    packed = b"".join(member(".zst", part) for part in parts)
    assert COMPRESSED[".zst"](io.BytesIO(packed)).read() == b"".join(parts)
