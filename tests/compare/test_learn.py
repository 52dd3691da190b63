from __future__ import annotations

from pathlib import Path

import pytest

from regard.align.wordbased import WordBased
from regard.compare.learn import LEARNT, WORDS, learn_words
from regard.data.corpus import DataConfig
from regard.errors import InputError
from support import write_lines


def test_what_was_learnt_is_not_learnt_again_but_what_was_cut_short_is(tmp_path: Path) -> None:
    src, tgt = write_lines(tmp_path)
    data, folder = DataConfig(str(src), str(tgt), dev_size=0), tmp_path / "ibm"
    folder.mkdir()
    (folder / WORDS).write_bytes(b"cut short")  # no LEARNT beside it: it does not count
    cost = learn_words(data, folder)
    assert WordBased.load(folder / WORDS).translate(["The cat sleeps."]) == ["Le chat dort."]
    assert (cost.flops, cost.parameters, cost.steps) == (None, None, None)
    assert cost.peak_bytes is None or cost.peak_bytes > 10_000_000
    src.unlink()
    assert learn_words(data, folder) == cost
    (folder / LEARNT).unlink()
    with pytest.raises(InputError, match=r"a\.en"):  # a mistake in the other process is as clear as in this one
        learn_words(data, folder)
