"""A sample is never larger than asked for, spread over all, and made of neighbours."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.doctor.read_files import BLOCK, Chunk, Sample


def stream(pairs: int, most: int) -> Sample:
    sample = Sample(most)
    for start in range(0, pairs, 10_000):
        numbers = list(range(start + 1, min(pairs, start + 10_000) + 1))
        sample.add(Chunk((Path("a.en"), Path("a.fr")), numbers, [f"s{n}" for n in numbers], [f"t{n}" for n in numbers]))
    return sample


@pytest.mark.parametrize("pairs", [1, 199, 5_000, 123_456])
def test_size_and_spread(pairs: int) -> None:
    sample = stream(pairs, 5_000)
    assert sample.seen == pairs
    assert min(pairs, 2_500) <= len(sample) <= 5_000
    assert (len(sample) == sample.seen) == (pairs <= 5_000)
    assert sample.blocks[-1].numbers[-1] > 0.9 * pairs
    at = len(sample) - 1
    assert sample.pairs()[at][0] == sample.place(0, at).text


def test_runs_are_neighbours() -> None:
    assert [len(run) for run in stream(1_050, 5_000).runs()] == [1_050]
    runs = list(stream(100_000, 5_000).runs())
    assert {len(run) for run in runs} == {BLOCK}
    for run in runs:
        numbers = [int(src[1:]) for src, _ in run]
        assert numbers == list(range(numbers[0], numbers[0] + BLOCK))
