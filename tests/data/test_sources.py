"""The table of data sets: complete in itself, and each kind of it made from files of the published form."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from fileserver import FileServer
from regard.data.fetch import OnBytes
from regard.data.prepare import fetch_data
from regard.data.sources import DATA_SETS, DataSet, Download, LinesFile, PairTable, find_data_set
from regard.errors import InputError
from regard.recipe.read import read_recipe

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
EMBEDDED = {f"{part}.{language}" for part in ("train", "dev", "test", "compositional") for language in ("en", "fr")}


def quiet(name: str) -> OnBytes:
    return lambda done, total: None


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_file_has_its_place(name: str) -> None:
    data = DATA_SETS[name]
    downloads = [d.name for d in data.downloads]
    assert len(set(downloads)) == len(downloads)
    split = (data.pairs and [data.pairs.lines]) or (data.parallel and [*data.parallel.sides])
    places = split or [place for some in data.files.values() for place in some]
    assert {place.download for place in places} == set(downloads)
    assert len(set(places)) == len(places)
    assert {made.split(".")[0] for made in data.names} == {"train", "dev", "test"}
    for download in data.downloads:
        assert download.url.startswith("https://")
        assert download.checksum is None or re.fullmatch("sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}", download.checksum)
        archive = download.name.endswith((".tgz", ".tar", ".zip"))
        assert all(bool(place.member) == archive for place in places if place.download == download.name)
    for part in ("train", "dev", "test"):  # what stands beside each other is of the same corpora
        sides = [[p.download for p in data.files[n]] for n in data.files if n.startswith(f"{part}.")]
        assert all(len(side) == len(sides[0]) for side in sides)


def test_a_name_that_is_not_known() -> None:
    with pytest.raises(InputError, match='no data set "multi30"; did you mean "multi30k"'):
        find_data_set("multi30")


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipes_name_what_fetch_makes(path: Path) -> None:
    data = read_recipe(path).data
    for key in ("src", "tgt", "dev_src", "dev_tgt", "test_src", "test_tgt"):
        top, folder, name = Path(getattr(data, key)).parts
        assert top == "data"
        assert name in (EMBEDDED if folder == "embedded" else DATA_SETS[folder].names)
    head = path.read_text(encoding="utf-8").split("\n[")[0]
    assert all(line.startswith("#") or not line for line in head.splitlines())
    assert f"regard train recipes/{path.name}" in head
    assert ("regard corpus --out data/embedded" if folder == "embedded" else f"regard fetch {folder}") in head
    assert "expected: " in head


def test_every_data_set_that_is_scored_has_a_recipe() -> None:
    assert len(RECIPES) == 11
    used = {Path(read_recipe(path).data.src or "").parts[1] for path in RECIPES}
    in_the_box = {name for name in DATA_SETS if name.startswith("europarl-")}  # recipes/box
    assert used == {*DATA_SETS, "embedded"} - {"multi30k-raw"} - in_the_box


def tgz(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as box:  # type: ignore[call-overload]
        for name, content in members.items():
            item = tarfile.TarInfo(name)
            item.size = len(content)
            box.addfile(item, io.BytesIO(content))
    return out.getvalue()


def unchecked(data: DataSet) -> DataSet:
    """The same with files of our own making."""
    return replace(data, downloads=tuple(replace(d, checksum=None) for d in data.downloads))


def made(folder: Path) -> dict[str, str]:
    return {p.name: p.read_text(encoding="utf-8") for p in folder.iterdir() if p.name != "README.txt"}


def test_wmt14_from_a_file_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of French: five corpora one after another, one of them compressed within its archive, and the test sets."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    def both(name: str, text: str) -> dict[str, bytes]:
        return {name.format(lang): f"{text} {lang}\u2028still\n".encode() for lang in ("en", "fr")}

    def segments(text: str) -> bytes:
        return f'<refset>\n<doc docid="1">\n<seg id="1"> {text} & </seg>\n<seg id="2">b</seg>\n</doc>\n'.encode()

    giga = {name: gzip.compress(t) for name, t in both("giga-fren.release2.fixed.{}.gz", "giga").items()}
    files = {
        "training-parallel-europarl-v7.tgz": tgz({"training/x": b"", **both("training/europarl-v7.fr-en.{}", "ep")}),
        "training-parallel-commoncrawl.tgz": tgz(both("commoncrawl.fr-en.{}", "cc")),
        "training-parallel-nc-v9.tgz": tgz(both("training/news-commentary-v9.fr-en.{}", "nc")),
        "training-parallel-un.tgz": tgz(both("un/undoc.2000.fr-en.{}", "un")),
        "training-giga-fren.tar": tgz(giga, "w"),
        "test.tgz": tgz({f"test/newstest2013-src.{lang}.sgm": segments(f"dev {lang}") for lang in ("en", "fr")}),
        "test-full.tgz": tgz(
            {
                "test-full/newstest2014-fren-src.en.sgm": segments("test en"),
                "test-full/newstest2014-fren-ref.fr.sgm": segments("test fr"),
            }
        ),
    }
    data = unchecked(DATA_SETS["wmt14-en-fr"])
    with FileServer(files, cut_after=50).running() as server:
        with pytest.raises(InputError, match="type the same again"):
            fetch_data(data, tmp_path / "out", server.url, quiet)
        server.cut_after = None
        counts = fetch_data(data, tmp_path / "out", server.url, quiet)
        assert [name for name, span in server.asked if span is None] == list(files)  # none was begun twice
    assert counts == {"train.en": 5, "train.fr": 5, "dev.en": 2, "dev.fr": 2, "test.en": 2, "test.fr": 2}
    found = made(tmp_path / "out")
    order = [f"{corpus} fr\u2028still\n" for corpus in ("ep", "cc", "nc", "un", "giga")]
    assert found["train.fr"] == "".join(order)
    assert (found["dev.en"], found["test.fr"]) == ("dev en &\nb\n", "test fr &\nb\n")
    about = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    assert "Licence: each corpus" in about
    assert about.count("sha256 ") == 7
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


def test_europarl_is_split_by_time(tmp_path: Path) -> None:
    data = unchecked(DATA_SETS["europarl-en-fr"])
    assert data.parallel is not None
    data = replace(data, parallel=replace(data.parallel, dev=2, test=1))
    english, french = (f"{word} {{}}\n" for word in ("Speech", "Discours"))
    rows = [(english.format(i), french.format(i)) for i in range(5)]
    rows.insert(1, ("Not translated.\n", "\n"))
    members = {
        f"europarl-v7.fr-en.{lang}": "".join(r[side] for r in rows).encode() for side, lang in enumerate(("en", "fr"))
    }
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "fr-en.tgz").write_bytes(tgz(members))
    counts = fetch_data(data, tmp_path / "out", str(tmp_path / "mirror"), quiet)
    assert counts == {"train.en": 2, "train.fr": 2, "dev.en": 2, "dev.fr": 2, "test.en": 1, "test.fr": 1}
    found = made(tmp_path / "out")
    assert (found["train.fr"], found["dev.en"], found["test.fr"]) == (
        "Discours 0\nDiscours 1\n",
        "Speech 2\nSpeech 3\n",
        "Discours 4\n",
    )
    members["europarl-v7.fr-en.fr"] += b"one more\n"
    (tmp_path / "mirror" / "fr-en.tgz").write_bytes(tgz(members))
    with pytest.raises(InputError, match="different numbers of lines"):
        fetch_data(data, tmp_path / "other", str(tmp_path / "mirror"), quiet)


def table(lines: int) -> bytes:
    rows = [f"Sentence {i // 2}.\tPhrase {i}.\tCC-BY 2.0 (France) Attribution: tatoeba.org #{i}" for i in range(lines)]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as box:
        box.writestr("_about.txt", "about")
        box.writestr("fra.txt", "\n".join(rows) + "\n")
    return out.getvalue()


def test_a_table_is_split(tmp_path: Path) -> None:
    (tmp_path / "fra-eng.zip").write_bytes(table(200))
    data = replace(
        DATA_SETS["tatoeba-en-fr"], pairs=PairTable(LinesFile("fra-eng.zip", "fra.txt"), ("en", "fr"), dev=10, test=20)
    )
    counts = fetch_data(data, tmp_path / "out", str(tmp_path), quiet)
    # A held-out sentence has one reference; its other translation is nowhere.
    assert counts == {"train.en": 140, "train.fr": 140, "dev.en": 10, "dev.fr": 10, "test.en": 20, "test.fr": 20}
    assert (tmp_path / "fra-eng.zip").exists()
    english = [set(made(tmp_path / "out")[f"{part}.en"].splitlines()) for part in ("train", "dev", "test")]
    assert len(set.union(*english)) == sum(map(len, english)) == 100


def test_a_damaged_file_of_an_earlier_fetch_is_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    content = table(200)
    data = replace(
        DATA_SETS["tatoeba-en-fr"], pairs=PairTable(LinesFile("fra-eng.zip", "fra.txt"), ("en", "fr"), dev=10, test=20)
    )
    raw = tmp_path / "out.part" / "raw"
    raw.mkdir(parents=True)
    (raw / "fra-eng.zip").write_bytes(content[: len(content) // 2])
    with FileServer({"fra-eng.zip": content}).running() as server:
        counts = fetch_data(data, tmp_path / "out", server.url, quiet)
    assert counts["train.en"] == 140


def small(files: dict[str, tuple[LinesFile, ...]], *names: str) -> DataSet:
    return DataSet("about", "1 kB", "none", "nobody", tuple(Download(f"https://x.org/{n}", None) for n in names), files)


def test_sides_must_be_as_long(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1\n2\n")
    (tmp_path / "b").write_bytes(b"1\n")
    data = small({"train.en": (LinesFile("a"),), "train.fr": (LinesFile("b"),)}, "a", "b")
    with pytest.raises(InputError, match=r"sides of train must have as many lines, and some: train.en 2, train.fr 1"):
        fetch_data(data, tmp_path / "out", str(tmp_path), quiet)
    assert not (tmp_path / "out").exists()


def test_a_wrong_local_copy(tmp_path: Path) -> None:
    (tmp_path / "dev.en.gz").write_bytes(gzip.compress(b"wrong\n"))
    data = DATA_SETS["enja-50k"]
    only = replace(data, downloads=tuple(d for d in data.downloads if d.name == "dev.en"))
    with pytest.raises(InputError, match=r"dev.en is not the published file: its sha256 is"):
        fetch_data(only, tmp_path / "out", str(tmp_path), quiet)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dev.en.gz"]


SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.skipif(not SHARED.exists(), reason="no copies of the real data sets on this machine")
def test_the_real_multi30k_has_the_checksums(tmp_path: Path) -> None:
    counts = fetch_data(DATA_SETS["multi30k"], tmp_path / "out", str(SHARED / "multi30k"), quiet)
    assert (counts["train.de"], counts["dev.fr"], counts["test.en"]) == (29000, 1014, 1000)
