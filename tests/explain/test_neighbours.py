"""Nearest pairs against the definition, computed pair by pair."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.explain.neighbours import PairIndex, pairs_of
from regard.translation.repetition import words_of

SENTENCES = st.lists(
    st.lists(st.sampled_from(["the", "cat", "sleeps", "dog", "black", "l'été", "12", "x"]), max_size=6), max_size=8
)


def written(folder: Path, sources: list[str]) -> Path:
    path = folder / "pairs.tsv"
    path.write_bytes("".join(f"{source}\tcible {n}\n" for n, source in enumerate(sources)).encode())
    return path


@settings(max_examples=25)
@given(SENTENCES, st.lists(st.sampled_from(["the", "cat", "sleeps", "new", "black"]), max_size=4))
def test_the_cosine_of_tf_idf(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[str]], words: list[str]
) -> None:
    sources, text = [" ".join(some) for some in lists], " ".join(words)
    found = PairIndex(written(tmp_path_factory.mktemp("pairs"), sources)).nearest(text, count=100)
    sets = [set(words_of(source)) for source in sources]

    def weight(word: str) -> float:
        return (math.log((1 + len(sets)) / (1 + sum(word in some for some in sets))) + 1) ** 2

    def cosine(a: set[str], b: set[str]) -> float:
        sizes = [math.sqrt(sum(map(weight, some))) for some in (a, b)]
        return sum(map(weight, a & b)) / (sizes[0] * sizes[1]) if a & b else 0.0

    wanted = {n: cosine(set(words_of(text)), some) for n, some in enumerate(sets) if set(words_of(text)) & some}
    assert {one.line for one in found} == set(wanted)
    for one in found:
        assert one.similarity == pytest.approx(wanted[one.line], abs=1e-5)
        assert (one.source, one.target) == (sources[one.line], f"cible {one.line}")
    assert [one.similarity for one in found] == sorted((one.similarity for one in found), reverse=True)


def test_odd_files(tmp_path: Path) -> None:
    assert pairs_of(None) is None
    assert pairs_of(tmp_path) is None
    (tmp_path / "pairs.tsv").write_bytes(b"\xff\xfe cat\r\nno tab cat\n\nthe cat\tle chat\tmore")
    index = pairs_of(tmp_path)
    assert index is not None
    assert [one.target for one in index.nearest("cat", 2)] == ["", "le chat\tmore"]
    assert index.nearest("the", 1)[0].target == "le chat\tmore"
    assert index.nearest("") == []
