"""Processes that translate a file: those without a model have the results of those with one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from regard.bulk.translate_file import FileJob, RunOptions, translate_file
from regard.cli.translate_models import load_models
from regard.errors import InputError
from regard.translation.loaded_model import LoadedModel
from regard.translator import Translator, TranslatorChain

LINES = ["The cat sleeps in 12 houses.", "Thank you!", "", "I have 3 apples and 4 pears.", "The dog is black."]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.en"
    path.write_text("".join(line + "\n" for line in LINES))
    return path


@pytest.fixture
def _on_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The models count as models on a GPU; they are on the CPU, and searched by the same engine."""
    monkeypatch.setattr(LoadedModel, "on_gpu", property(lambda self: True))


@pytest.mark.usefixtures("_on_gpu")
@pytest.mark.parametrize(
    "models", [("en-fr-classic",), pytest.param(("en-fr-classic", "fr-en"), marks=pytest.mark.long)]
)
def test_one_process_searches_for_all(source: Path, tmp_path: Path, models: tuple[str, ...]) -> None:
    load = partial(load_models, None, "cpu", "native", False, models)
    translator = load(0)
    assert isinstance(translator, Translator if len(models) == 1 else TranslatorChain)
    reports = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    found = [
        translate_file(
            translator, FileJob(source, report=report), tmp_path / f"out.{workers}", RunOptions(workers, never)
        )
        for workers, report in zip((1, 2), reports, strict=True)
    ]
    assert found[0] == found[1]
    assert (tmp_path / "out.1").read_text() == (tmp_path / "out.2").read_text()
    assert reports[0].read_text() == reports[1].read_text()


def never(number: int) -> Translator:
    raise AssertionError("no process may load the model")


@pytest.mark.usefixtures("_on_gpu")
def test_an_error_of_the_search_reaches_the_user_in_one_line(source: Path, tmp_path: Path) -> None:
    translator = load_models(None, "cpu", "native", False, ("en-fr-classic",), 0)
    assert isinstance(translator, Translator)

    class Broken:
        def search_as_asked(self, *given: object) -> None:
            raise InputError("out of memory; use smaller batches")

    translator.engine = lambda *given, **named: Broken()  # type: ignore[method-assign, return-value]
    with pytest.raises(InputError, match="use smaller batches"):
        translate_file(translator, FileJob(source), tmp_path / "out", RunOptions(2, never))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en"]
