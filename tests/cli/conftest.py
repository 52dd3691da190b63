"""The command line without a process of its own, where a process would add nothing but seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from regard.cli import main


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*words: str | Path) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Answer(left.value.code, out, err)

    return run
