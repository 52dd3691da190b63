"""Which engine a translator gets, and the conversions in the user's cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from converted import saved_transformer
from regard.errors import BundleError, InputError
from regard.export.ctranslate2 import export_ctranslate2, source_checksum
from regard.export.table import export_model
from regard.search.ctranslate2_model import cached, checked_engine, converted_for
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ctranslate2"


@pytest.fixture
def model(tokenizer: Tokenizer, tmp_path: Path) -> Path:
    saved_transformer(tmp_path / "model", tokenizer)
    return tmp_path / "model"


def test_auto_takes_an_export_that_fits_and_notices_one_that_does_not(
    model: Path, cache: Path, tokenizer: Tokenizer
) -> None:
    said: list[str] = []
    assert converted_for(model, "auto", said.append) is None  # no export
    export_model(model, "ctranslate2")
    found = converted_for(model, "auto", said.append)
    assert found is not None
    assert found.folder == model / "ctranslate2"
    saved_transformer(model, tokenizer, activation="gelu")
    assert converted_for(model, "auto", said.append) is None
    assert len(said) == 1
    assert "made from other weights" in said[0]
    again = converted_for(model, "ctranslate2", said.append)
    assert again is not None
    assert again.folder.parent == cache
    assert converted_for(model, "native", said.append) is None


def test_a_conversion_is_cached_once_and_said_once(model: Path, cache: Path) -> None:
    said: list[str] = []
    first, second = (converted_for(model, "ctranslate2", said.append) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.folder == second.folder
    assert len(said) == 1
    assert said[0].startswith("converted model for CTranslate2 in ")
    assert [path.name for path in cache.iterdir()] == [first.folder.name]


def test_those_who_load_a_model_at_a_time_share_it(model: Path, cache: Path) -> None:
    first = converted_for(model, "ctranslate2")
    assert first is not None
    assert converted_for(model, "ctranslate2") is first


def test_a_damaged_conversion_in_the_cache_is_made_again(model: Path, cache: Path) -> None:
    place = cached(model, source_checksum(model), lambda line: None).folder
    for damage in (lambda path: path.write_bytes(path.read_bytes()[:100]), lambda path: path.unlink()):
        damage(place / "model.bin")
        assert cached(model, source_checksum(model), lambda line: None).folder == place


@pytest.mark.long
def test_two_processes_convert_at_once(model: Path, cache: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from regard.search.ctranslate2_model import converted_for; "
        "sys.stdin.readline(); print(converted_for(Path(sys.argv[1]), 'ctranslate2').made.weights)"
    )
    command = [sys.executable, "-c", program, str(model)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    both = [subprocess.Popen(command, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for process in both:
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in both:
        out, err = process.communicate(timeout=100)
        assert (process.returncode, out) == (0, b"int8\n"), err.decode()
    assert len(list(cache.iterdir())) == 1  # and nothing that was begun


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "file"))
    said: list[str] = []
    from regard.bundle import bundled_models

    assert converted_for(bundled_models.folder_of(), "auto", said.append) is None
    assert len(said) == 1
    assert said[0].startswith("CTranslate2 is not used: cannot write ")
    with pytest.raises(BundleError, match="cannot write"):
        converted_for(bundled_models.folder_of(), "ctranslate2", said.append)


def test_engines_that_are_not_there(model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="engine must be one of auto, native, ctranslate2, but is 'torch'"):
        Translator.load(model, "cpu", "torch")
    with pytest.raises(InputError, match="with one model, but 2 are given"):
        Translator.load([model, model], "cpu", "ctranslate2")
    with pytest.raises(InputError, match="on the CPU, but the device is cuda"):
        Translator.load(model, "cuda", "ctranslate2")
    monkeypatch.setenv("REGARD_ENGINE", "fast")
    with pytest.raises(InputError, match="but is 'fast'"):
        checked_engine("auto")
    assert checked_engine("native") == "native"


def test_the_box_is_converted_by_itself(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REGARD_ENGINE")
    translator = Translator.load(None, "cpu")
    assert translator.converted is not None
    assert translator.converted.folder.parent == cache
    assert translator.translate("The black cat sleeps.").text == "Le chat noir dort."
    assert not translator.bundle.loaded


def test_export_refuses_unknown_weights(model: Path) -> None:
    with pytest.raises(InputError, match=r"weights must be one of int8, .* for ctranslate2, but are \"int4\""):
        export_model(model, "ctranslate2", weights="int4")
    with pytest.raises(InputError, match=r"weights must be one of float32, int8, .* but is int4"):
        export_ctranslate2(model, model / "x", "int4")  # type: ignore[arg-type]
