"""Tests of jobs: chunks that are translated in parallel give what one chunk gives."""

from __future__ import annotations

import pytest

import regard
from regard.errors import BundleError
from regard.translation import job
from regard.translation.pipeline import Pipeline

LINES = [f"The cat sees {n} dogs. Thank you, Mr. Brown!" for n in range(10)] + ["", "It is late.", "• one\n• two"]


@pytest.mark.usefixtures("usual_engine")
def test_chunks_in_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    translator = regard.load("en-fr", device="cpu")
    whole = translator.translate(LINES)
    chunks: list[int] = []
    results = Pipeline.results

    def noted(self: Pipeline, units, **named):  # type: ignore[no-untyped-def]
        chunks.append(len(units))
        return results(self, units, **named)

    monkeypatch.setattr(Pipeline, "results", noted)
    monkeypatch.setattr(job, "PARALLEL_CHUNK", 3)
    done: list[int] = []
    parts = translator.translate(LINES, progress=done.append)
    assert [one.text for one in parts] == [one.text for one in whole]
    assert [[s.reasons for s in one.sentences] for one in parts] == [
        [s.reasons for s in one.sentences] for one in whole
    ]
    assert len(chunks) > job.AT_ONCE
    assert max(chunks) == 3
    assert sum(done) == sum(chunks)


@pytest.mark.usefixtures("usual_engine")
def test_an_error_of_a_later_chunk_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    translator = regard.load("en-fr", device="cpu")
    results = Pipeline.results

    def fail(self: Pipeline, units, **named):  # type: ignore[no-untyped-def]
        if any("7 dogs" in unit.prepared.source for unit in units):
            raise BundleError("damaged")
        return results(self, units, **named)

    monkeypatch.setattr(Pipeline, "results", fail)
    monkeypatch.setattr(job, "PARALLEL_CHUNK", 3)
    with pytest.raises(BundleError, match="damaged"):
        translator.translate(LINES)
