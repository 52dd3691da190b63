"""A model that learnt slots says so, and the words it knows lie with it; others have neither."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import regard
from regard.bundle.bundle import Bundle, read_words
from regard.bundle.folder import CHECKSUMS, WORDS, read_checksums
from regard.errors import BundleError
from regard.text.known_words import KnownWords
from support import Call

KNOWN = KnownWords(["cat", "Monday"], ["Tom"], ["Baker"])


@pytest.fixture
def bundle(run_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(run_folder / "best", tmp_path / "bundle")
    return tmp_path / "bundle"


def with_words(folder: Path) -> Path:
    replace(Bundle.load(folder), known_words=KNOWN).save(folder)
    return folder / WORDS


def test_a_model_without_slots_has_neither(bundle: Path) -> None:
    found = Bundle.load(bundle)
    assert (found.slots, found.known_words) == (False, None)
    assert not (bundle / WORDS).exists()


def test_words_are_kept_checked_and_packed(bundle: Path, tmp_path: Path, call: Call) -> None:
    path = with_words(bundle)
    assert WORDS in read_checksums(bundle)
    found = Bundle.load(bundle).known_words
    assert found is not None
    assert (found.words, found.copied, found.rare) == (KNOWN.words, KNOWN.copied, KNOWN.rare)
    assert call("pack", bundle, "--out", tmp_path / "small")[0] == 0
    assert (tmp_path / "small" / WORDS).read_bytes() == path.read_bytes()
    replace(Bundle.load(bundle), known_words=None).save(bundle)
    assert not path.exists()


def test_a_direction_has_words_of_its_own(bundle: Path, tmp_path: Path, call: Call) -> None:
    """A model of several directions learnt the words of all their sources."""
    (tmp_path / "a.fr").write_text("Le chat voit Tom.\n" * 60, encoding="utf-8")
    (tmp_path / "a.en").write_text("The cat sees Tom.\n" * 60, encoding="utf-8")
    pairs = ("--src", tmp_path / "a.fr", "--tgt", tmp_path / "a.en")
    refused = call("pack", bundle, "--out", tmp_path / "new", *pairs)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "known words are for a model that has learnt slots" in refused.err
    assert call("pack", bundle, "--out", tmp_path / "new", *pairs[:2]).code == 2
    found = replace(Bundle.load(bundle), known_words=KNOWN)
    found.card["slots"] = True
    found.save(bundle)
    assert call("pack", bundle, "--out", tmp_path / "new", *pairs).code == 0
    own = Bundle.read(tmp_path / "new").known_words
    assert own is not None
    assert (own.words, own.copied) == ({"Le", "chat", "voit"}, {"Tom"})


def test_damaged_words_are_one_line(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_words(bundle)
    whole = path.read_bytes()
    path.write_bytes(whole + b"x")
    with pytest.raises(BundleError, match=r"words\.txt\.gz is damaged: its checksum differs"):
        Bundle.load(bundle)
    (bundle / CHECKSUMS).unlink()
    for damaged in (b"", b"\xff\xfe", b"cat\n", gzip.compress(b"\xff\xfe"), gzip.compress(b"cat\n"), whole[:-9]):
        path.write_bytes(damaged)
        with pytest.raises(BundleError, match=r"words\.txt\.gz: not a file of known words"):
            Bundle.load(bundle)
    monkeypatch.setattr("regard.text.known_words.MAX_BYTES", 10)
    path.write_bytes(gzip.compress(b"x" * 11))
    with pytest.raises(BundleError, match=r"words\.txt\.gz has more than 10 bytes"):
        read_words(bundle)


def test_an_uncompressed_list_is_not_passed_over(bundle: Path) -> None:
    path = with_words(bundle)
    plain = path.with_suffix("")
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    path.unlink()
    with pytest.raises(BundleError, match=r"words\.txt is the list .* compress it: gzip"):
        Bundle.load(bundle)


def test_a_run_with_slots_learns_them_and_hands_them_on(text_files: tuple[Path, Path], tmp_path: Path) -> None:
    src, tgt = (str(path) for path in text_files)
    data = {"src": src, "tgt": tgt, "dev_src": src, "dev_tgt": tgt}
    train = {"steps": 1, "batch_tokens": 600, "device": "cpu"}
    model = {"width": 16, "heads": 2, "inner": 16, "encoder_layers": 1, "decoder_layers": 1}
    tables = {"data": data | {"slots": 1.0}, "train": train, "model": model, "text": {"vocab_size": 400}}
    regard.train(tables, tmp_path / "first")
    first = Bundle.load(tmp_path / "first")
    assert first.slots
    assert first.known_words is not None
    assert "cat" in first.known_words.words
    start = {"start_from": str(tmp_path / "first"), "learning_rate": 1e-6}
    regard.train({"data": data, "train": train | start}, tmp_path / "second")
    second = Bundle.load(tmp_path / "second")
    assert second.slots
    assert second.known_words is not None
    assert second.known_words.words == first.known_words.words
    regard.train(tables | {"data": data}, tmp_path / "without")
    assert not Bundle.load(tmp_path / "without").slots
