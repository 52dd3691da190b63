"""`regard fetch` as a user types it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fileserver import FileServer
from regard.data.sources import DATA_SETS


def anki(lines: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as box:
        rows = (f"Number {i}.\tNuméro {i}.\tCC-BY 2.0 (France) Attribution: tatoeba.org #{i}\n" for i in range(lines))
        box.writestr("fra.txt", "".join(rows))
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path


def test_alone_it_lists(call: Any) -> None:
    code, out, err = call("fetch")
    assert (code, err) == (0, "")
    for name, data in DATA_SETS.items():
        assert f"{name} " in out
        assert data.size in out
        assert data.licence in out
    assert "https://www.statmt.org/" in out


def test_from_a_file_server(call: Any, folder: Path) -> None:
    with FileServer({"fra-eng.zip": anki(8000)}).running() as server:
        code, out, err = call("fetch", "tatoeba-en-fr", "--mirror", server.url)
        assert code == 0, err
        assert "data/tatoeba-en-fr/train.en: 500 lines\n" in out
        assert "data/tatoeba-en-fr/test.fr: 5,000 lines\n" in out
        assert "licence: CC-BY" in out
        assert "fra-eng.zip: " in err
        again = call("fetch", "tatoeba-en-fr", "--mirror", server.url)
    assert again.code == 2
    assert "data/tatoeba-en-fr already exists" in again.err
    assert sorted(path.name for path in Path("data").iterdir()) == ["tatoeba-en-fr"]


def test_what_was_interrupted_goes_on(call: Any, folder: Path) -> None:
    content = anki(8000)
    with FileServer({"fra-eng.zip": content}, cut_after=len(content) // 5).running() as server:
        code, _, err = call("fetch", "tatoeba-en-fr", "--out", "mine", "--mirror", server.url)
        assert code == 2
        assert err.count("\n") == 1
        assert "type the same again to go on" in err
        assert not Path("mine").exists()
        code, _, err = call("fetch", "tatoeba-en-fr", "--out", "mine", "--mirror", server.url)
        assert code == 0, err
        assert len([1 for _, span in server.asked if span is None]) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["mine"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("multi30",), 'no data set "multi30"; did you mean "multi30k"?'),
        (("enja-50k", "--mirror", "nowhere"), "nowhere has no train.en.000"),
        (("enja-50k", "--mirror", "http://127.0.0.1:9/x"), "http://127.0.0.1:9/x/train.en.000 cannot be reached"),
        (("enja-50k", "--out", "full"), "full already exists"),
        (("enja-50k", "--out", "full/file/x", "--mirror", "."), "full/file"),
    ],
)
def test_a_mistake_is_one_line(call: Any, folder: Path, words: tuple[str, ...], says: str) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "file").write_text("")
    code, out, err = call("fetch", *words)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    left = {p.name for p in folder.rglob("*") if p.name != "data"}
    assert left == {"full", "file"}
