"""Files of sentence pairs: every kind that is read, and every fault that is named."""

from __future__ import annotations

import gzip
import itertools
import lzma
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.data.config import DataConfig
from regard.data.corpus import PairFiles, read_pairs
from regard.data.text_files import decode_lines, read_lines
from regard.errors import InputError, RecipeError


def two(tmp_path: Path, src: bytes, tgt: bytes) -> PairFiles:
    (tmp_path / "a.en").write_bytes(src)
    (tmp_path / "a.fr").write_bytes(tgt)
    return PairFiles((tmp_path / "a.en", tmp_path / "a.fr"))


def one(tmp_path: Path, name: str, content: bytes, **keys: str) -> PairFiles:
    (tmp_path / name).write_bytes(content)
    return PairFiles((tmp_path / name,), **keys)


PLAIN: Callable[[bytes], bytes] = lambda content: content  # noqa: E731


@pytest.mark.parametrize(("suffix", "squeeze"), [("", PLAIN), (".gz", gzip.compress), (".xz", lzma.compress)])
def test_every_kind_of_file(tmp_path: Path, suffix: str, squeeze: Callable[[bytes], bytes]) -> None:
    pairs = [("The cat.", "Le chat."), ("", "vide"), ("é", "😀")]
    for name, side in (("a.en", 0), ("a.fr", 1)):
        (tmp_path / (name + suffix)).write_bytes(squeeze("\n".join(p[side] for p in pairs).encode()))
    files = PairFiles((tmp_path / f"a.en{suffix}", tmp_path / f"a.fr{suffix}"))
    assert list(read_pairs(files)) == pairs
    table = one(tmp_path, "a.tsv" + suffix, squeeze("".join(f"{s}\t{t}\n" for s, t in pairs).encode()))
    assert list(read_pairs(table)) == pairs
    rows = '{"src": "The cat.", "tgt": "Le chat."}\n\n{"tgt": "vide", "src": ""}\n{"src": "\\u00e9", "tgt": "😀"}\n'
    assert list(read_pairs(one(tmp_path, "a.jsonl" + suffix, squeeze(rows.encode())))) == pairs


def test_jsonl_keys_reach_inside(tmp_path: Path) -> None:
    row = b'{"translation": {"en": "cat", "fr": "chat"}, "a.b": "plain"}\n'
    files = one(tmp_path, "a.jsonl", row, src_key="translation.en", tgt_key="translation.fr")
    assert list(read_pairs(files)) == [("cat", "chat")]
    assert list(read_pairs(one(tmp_path, "b.jsonl", row, src_key="a.b", tgt_key="a.b"))) == [("plain", "plain")]


def test_a_line_ends_at_newline_only(tmp_path: Path) -> None:
    path = tmp_path / "a.en"
    path.write_bytes("\ufeffone\u2028still one\r\ntwo\0\x0b\x0c\x1c\x85\rstill two\n\n\ufefflast".encode())
    assert list(read_lines(path)) == ["one\u2028still one", "two\0\x0b\x0c\x1c\x85\rstill two", "", "\ufefflast"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), min_size=1))
def test_lines_come_back(tmp_path: Path, lines: list[str]) -> None:
    lines = ["first", *lines]  # a BOM or a NUL-ridden head is another matter
    (tmp_path / "a").write_bytes("".join(line + "\n" for line in lines).encode())
    nuls = "".join(lines).count("\0")
    if nuls * 20 < len("".join(lines)):
        assert list(read_lines(tmp_path / "a")) == lines


FAULTS: dict[str, tuple[Callable[[Path], PairFiles], str]] = {
    "unequal": (lambda p: two(p, b"1\n2\n3\n", b"1\n2\n"), r"a\.en has 3 lines but .*a\.fr has 2; line n"),
    "unequal the other way": (lambda p: two(p, b"1\n", b"1\n2\n3"), r"a\.en has 1 lines but .*a\.fr has 3"),
    "empty": (lambda p: two(p, b"", b"1\n"), r"a\.en is empty; it must hold one sentence a line"),
    "empty gz": (lambda p: one(p, "a.tsv.gz", gzip.compress(b"")), r"a\.tsv\.gz is empty"),
    "not UTF-8": (lambda p: two(p, b"a\n\xe9t\xe9\n", b"1\n2\n"), r"a\.en, line 2 is not UTF-8 \(byte 0xE9\); .*iconv"),
    "binary": (lambda p: two(p, b"\x7fELF\2\1\1\0\0\0\0\0\0\0", b"1"), r"a\.en looks like a binary file"),
    "binary later": (lambda p: two(p, b"fine text\n" * 999 + b"\0\xff", b"1"), r"a\.en looks like a binary file"),
    "gzip unnamed": (lambda p: two(p, gzip.compress(b"x"), b"1"), r'a\.en is gzip, .*rename it to end in "\.gz"'),
    "xz unnamed": (lambda p: two(p, lzma.compress(b"x"), b"1"), r'a\.en is xz, .*rename it to end in "\.xz"'),
    "zip": (lambda p: two(p, b"PK\x03\x04...", b"1"), r"a\.en is a zip archive, not plain text; unzip it"),
    "UTF-16": (lambda p: two(p, "chat".encode("utf-16"), b"1"), r"a\.en is UTF-16, .*iconv -f UTF-16"),
    "cut gz": (lambda p: one(p, "a.tsv.gz", gzip.compress(b"a\tb\n" * 99)[:-9]), r"a\.tsv\.gz is damaged or not gz"),
    "cut xz": (lambda p: one(p, "a.tsv.xz", lzma.compress(b"a\tb\n" * 99)[:-9]), r"a\.tsv\.xz is damaged or not xz"),
    "false gz": (lambda p: one(p, "a.tsv.gz", b"a\tb\n"), r"a\.tsv\.gz is damaged or not gz"),
    "false xz": (lambda p: one(p, "a.tsv.xz", b"a\tb\n"), r"a\.tsv\.xz is damaged or not xz"),
    "bad gz": (lambda p: one(p, "a.tsv.gz", gzip.compress(b"")[:10] + b"\xff" * 30), r"is damaged or not gz"),
    "no tab": (
        lambda p: one(p, "a.tsv", b"a\tb\nab\n"),
        r"a\.tsv, line 2 has 0 tabs; it must be source, one tab, target",
    ),
    "two tabs": (lambda p: one(p, "a.tsv", b"a\tb\tc\n"), r"line 1 has 2 tabs; .*cut -f1,2 OLD\.tsv > NEW\.tsv"),
    "bad JSON": (lambda p: one(p, "a.jsonl", b'{"src": "a", "tgt": "b"}\n{"src"\n'), r"a\.jsonl, line 2 is not JSON"),
    "deep JSON": (lambda p: one(p, "a.jsonl", b"[" * 200_000), r"line 1 is not JSON"),
    "no key": (
        lambda p: one(p, "a.jsonl", b'{"scr": "a", "tgt": "b"}'),
        r'no key "src"; did you mean "scr"\?.*data.src_key',
    ),
    "no object": (lambda p: one(p, "a.jsonl", b"[1]"), r'line 1 has no key "src"; it must be an object'),
    "not text": (lambda p: one(p, "a.jsonl", b'{"src": 5, "tgt": "b"}'), r'"src" must be text, but is 5'),
    "half a pair": (
        lambda p: one(p, "a.jsonl", rb'{"src": "\ud800", "tgt": "b"}'),
        r'line 1: "src" holds half a surrogate',
    ),
    "odd suffix": (lambda p: one(p, "a.csv", b"a,b"), r"a\.csv must end in \.tsv or \.jsonl"),
    "no folder": (lambda p: PairFiles((p / "no" / "a.tsv",)), r"a\.tsv does not exist; there is no folder .*no"),
    "empty folder": (lambda p: PairFiles((p / "a.tsv",)), r"a\.tsv does not exist; its folder is empty"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(tmp_path: Path, fault: str) -> None:
    make, message = FAULTS[fault]
    with pytest.raises(InputError, match=message) as caught:
        list(read_pairs(make(tmp_path)))
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("a")
    with pytest.raises(InputError, match=r'trian\.en does not exist; did you mean ".*train\.en"\?'):
        list(read_lines(tmp_path / "trian.en"))
    with pytest.raises(InputError, match=r"zzz does not exist; .* holds train\.en"):
        list(read_lines(tmp_path / "zzz"))
    with pytest.raises(InputError, match="is a folder; name a file in it"):
        list(read_lines(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        PairFiles((tmp_path / "gone.tsv",)).fingerprint()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_read_once_only(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"is a pipe or device, but is read more than once; write it to a file first"):
        read_pairs(PairFiles((tmp_path / "pipe", tmp_path / "pipe")))
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"one\ntwo",))
    writer.start()
    assert list(read_lines(tmp_path / "pipe")) == ["one", "two"]
    writer.join()


def test_streams_have_names() -> None:
    assert list(decode_lines([], "standard input")) == []
    assert list(decode_lines([b"\xef\xbb\xbfa\r\n", b"\n", b"b"], "standard input")) == ["a", "", "b"]
    with pytest.raises(InputError, match="standard input, line 2 is not UTF-8"):
        list(decode_lines([b"a\n", b"\xff\n"], "standard input"))


@pytest.mark.parametrize("given", [{"max_length": 0}, {"max_ratio": 0.5}, {"dev_size": -1}])
def test_impossible_settings(given: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=next(iter(given))):
        DataConfig(**given)


def test_fingerprint_is_of_the_contents(tmp_path: Path) -> None:
    here = one(tmp_path, "a.tsv", b"a\tb\n")
    (tmp_path / "sub").mkdir()
    there = one(tmp_path / "sub", "b.tsv", b"a\tb\n")
    assert here.fingerprint() == there.fingerprint()
    (tmp_path / "sub" / "b.tsv").write_bytes(b"a\tc\n")
    assert here.fingerprint() != there.fingerprint()


def test_reading_is_a_stream(tmp_path: Path) -> None:
    """A fault late in a file does not keep the pairs before it from coming."""
    files = one(tmp_path, "a.tsv", b"a\tb\n" * 5 + b"no tab\n")
    assert list(itertools.islice(read_pairs(files), 5)) == [("a", "b")] * 5


def test_a_pattern_names_shards(tmp_path: Path) -> None:
    for number in (2, 0, 1):
        (tmp_path / f"a.{number}.tsv.gz").write_bytes(gzip.compress(f"{number}\tx\n".encode()))
        (tmp_path / f"{number}.en").write_text(f"{number}\n")
        (tmp_path / f"{number}.fr").write_text(f"n{number}\n")
    table = PairFiles((tmp_path / "a.*.tsv.gz",))
    assert list(read_pairs(table)) == [("0", "x"), ("1", "x"), ("2", "x")]
    texts = PairFiles((tmp_path / "[0-9].en", tmp_path / "?.fr"))
    assert list(read_pairs(texts)) == [("0", "n0"), ("1", "n1"), ("2", "n2")]
    before = texts.fingerprint()
    (tmp_path / "1.fr").write_text("another\n")
    assert texts.fingerprint() != before
    (tmp_path / "2.fr").unlink()
    with pytest.raises(InputError, match=r"names 3 but .* names 2 files; every file of sources needs one of targets"):
        read_pairs(texts)
    with pytest.raises(InputError, match=r"no file matches .*b\.\*\.tsv"):
        read_pairs(PairFiles((tmp_path / "b.*.tsv",)))
    (tmp_path / "what?.tsv").write_text("a\tb\n")  # a file of just that name is no pattern
    (tmp_path / "whatX.tsv").write_text("c\td\n")
    assert list(read_pairs(PairFiles((tmp_path / "what?.tsv",)))) == [("a", "b")]
