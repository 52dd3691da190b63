"""Dataclasses come back from their file as they were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from regard.align.ibm import Floats
from regard.course.phrases.store import load, save
from regard.errors import InputError


@dataclass(frozen=True)
class Inner:
    rows: Floats
    names: tuple[str, ...] = ("é", "b")


@dataclass(frozen=True)
class Outer:
    inner: Inner
    count: int = 3
    marks: frozenset[str] = frozenset(".,")
    spelling: Mapping[str, str] = field(default_factory=lambda: {"paul": "Paul"})


def test_every_kind_of_field_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    save(Outer(Inner(np.array([[1.5, -2.0]]))), path)
    found = load(Outer, path)
    np.testing.assert_array_equal(found.inner.rows, [[1.5, -2.0]])
    assert (found.inner.names, found.count, found.marks, found.spelling) == (
        ("é", "b"),
        3,
        frozenset(".,"),
        {"paul": "Paul"},
    )
    with pytest.raises(InputError, match="is not a saved Inner"):
        load(Inner, path)


@pytest.mark.parametrize("change", [{"count": "3"}, {"inner.names": None}, {"format": "another"}, {"spelling": []}])
def test_a_changed_file_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    save(Outer(Inner(np.zeros((1, 1)))), path)
    with np.load(path) as stored:
        arrays = dict(stored.items())
    rest = json.loads(arrays["rest"].tobytes()) | change
    np.savez(path, **arrays | {"rest": np.frombuffer(json.dumps(rest).encode(), dtype=np.uint8)})
    with pytest.raises(InputError, match=r"is not a saved Outer; write one with Outer\.save"):
        load(Outer, path)
