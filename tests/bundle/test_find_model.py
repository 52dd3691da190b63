"""Models of the hub by their names, from a server on this machine that answers as the hub does."""

from __future__ import annotations

import hashlib
import json
import socket
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from fileserver import FileServer
from pieces_files import write_vocabulary
from regard.bundle.bundle import Bundle
from regard.bundle.find_model import fetch_model, find_model
from regard.bundle.marian_tensors import PAD_BIAS
from regard.errors import BundleError, InputError
from regard.export.table import export_model
from regard.models.table import make_model
from regard.models.transformer_layers import TransformerConfig
from regard.text.marian_vocabulary import read_marian_tokenizer
from support import Call

NAME = "Helsinki-NLP/opus-mt-en-fr"
CONFIG = TransformerConfig(
    width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=1, norm="post", activation="silu", output_bias=True
)
LIST = "opus-mt-en-fr?blobs=true"  # how the file server calls the list of files


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of our own, `bundle`, and as a folder of Marian, `model`."""
    home = tmp_path_factory.mktemp("published")
    tokenizer = read_marian_tokenizer(write_vocabulary(home / "files"))
    torch.manual_seed(1)
    model = make_model("transformer", CONFIG, tokenizer).eval()
    with torch.no_grad():
        model.output.bias[0] = PAD_BIAS  # type: ignore[index, union-attr]
    Bundle("transformer", CONFIG, model, tokenizer).save(home / "bundle")
    export_model(home / "bundle", "huggingface", home / "model")
    return home


@pytest.fixture(scope="module")
def published(made: Path) -> dict[str, bytes]:
    """The files of a model on the hub, among them some that are of no use here."""
    files = {path.name: path.read_bytes() for path in (made / "model").iterdir()}
    return files | {"README.md": b"---\nlicense: apache-2.0\n---\n", "tf_model.h5": b"no", "../evil": b"no"}


def listing(files: dict[str, bytes], **further: Any) -> bytes:
    siblings: list[dict[str, Any]] = []
    for name, content in files.items():
        sha1 = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        entry: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": sha1}
        if name.endswith((".safetensors", ".spm")):
            entry["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
        siblings.append(entry)
    about = {"id": NAME, "sha": "a" * 40, "gated": False, "cardData": {"license": "apache-2.0"}, "siblings": siblings}
    return json.dumps(about | further).encode()


@pytest.fixture
def hub(published: dict[str, bytes]) -> FileServer:
    return FileServer({**published, LIST: listing(published)})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("REGARD_OFFLINE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_a_model_is_fetched_once_and_then_at_hand(
    hub: FileServer,
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    with hub.running() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        regard.load(NAME, device="cpu")
    asked = sorted(name for name, _ in hub.asked)
    assert asked == sorted({*(path.name for path in (made / "model").iterdir()), "README.md", LIST})
    said = capsys.readouterr()
    assert f"fetching {NAME}: {len(asked) - 1} files, " in said.err
    assert "licence: apache-2.0" in said.err
    assert said.out == ""
    request.getfixturevalue("no_network")
    first, texts = regard.load(made / "bundle", device="cpu"), ["The cat sleeps.", "I see 12 dogs."]
    for name in (NAME, "opus-mt-en-fr"):
        again = regard.load(name, device="cpu")
        assert again.translate(texts, guard=False, beam=2) == first.translate(texts, guard=False, beam=2)
    assert capsys.readouterr().err == ""


def test_the_command_fetches_into_a_folder(hub: FileServer, call: Call, home: Path) -> None:
    with hub.running() as server:
        code, out, err = call("fetch", "opus-mt-en-fr", "--out", "mine", "--mirror", server.url)
        assert code == 0, err
        assert out == "mine\n"
        assert f"model.safetensors: {len(hub.files['model.safetensors']):,} bytes" in err
        assert find_model(home / "mine") == home / "mine"
        again = call("fetch", "opus-mt-en-fr", "--out", "mine", "--mirror", server.url)
    assert again.code == 2
    assert again.err.count("\n") == 1
    assert not list((home / "cache" / "hub" / "Helsinki-NLP").glob("opus*"))  # what was fetched for it is removed


def test_what_was_interrupted_goes_on(hub: FileServer, home: Path) -> None:
    hub.cut_after = 20_000
    with hub.running() as server:
        with pytest.raises(InputError, match="type the same again to go on"):
            fetch_model(NAME, endpoint=server.url)
        part = home / "cache" / "hub" / NAME
        assert [path.name for path in part.glob("*.part")]
        hub.cut_after, before = None, len(hub.asked)
        assert fetch_model(NAME, endpoint=server.url) == home / "cache" / "models" / NAME
    assert [span for _, span in hub.asked[before:] if span], "it went on where it was"


def test_a_changed_file_is_refused(hub: FileServer, published: dict[str, bytes], home: Path) -> None:
    for name in ("vocab.json", "model.safetensors"):  # in the order in which they come
        hub.files = {**published, LIST: listing(published), name: published[name][:-1] + b"?"}
        with hub.running() as server, pytest.raises(InputError, match=f"{name} is not the published file"):
            fetch_model(NAME, endpoint=server.url)
    assert not (home / "cache" / "models").exists()


@pytest.mark.parametrize(
    ("further", "says"),
    [
        ({"gated": "auto"}, "given only to people whom its owner has admitted"),
        (
            {"siblings": []},
            r"is not a Marian model: .* has no config.json, vocab.json, source.spm, target.spm",
        ),
        ({"siblings": [7, {"rfilename": 5}]}, "is not a Marian model"),
    ],
)
def test_what_cannot_be_fetched(hub: FileServer, further: dict[str, Any], says: str) -> None:
    hub.files[LIST] = listing({}, **further)
    with hub.running() as server, pytest.raises(InputError, match=says):
        fetch_model(NAME, endpoint=server.url)


def test_no_such_model_and_no_such_server(hub: FileServer) -> None:
    hub.files = {LIST: b"[]"}
    with hub.running() as server:
        with pytest.raises(InputError, match="has no model Helsinki-NLP/opus-mt-xx-yy, or it is private"):
            fetch_model("Helsinki-NLP/opus-mt-xx-yy", endpoint=server.url)
        with pytest.raises(InputError, match="does not answer as the hub does"):
            fetch_model(NAME, endpoint=server.url)
    with pytest.raises(InputError, match="cannot be reached"):
        fetch_model(NAME, endpoint="http://127.0.0.1:9")
    with pytest.raises(InputError, match="must begin with https://"):
        fetch_model(NAME, endpoint="file:///etc")
    with pytest.raises(InputError, match="is no name on the hub"):
        fetch_model("../../etc", endpoint="http://127.0.0.1:9")


def test_a_full_disk(hub: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10, 10, 0))
    with hub.running() as server, pytest.raises(InputError, match="make room, or set REGARD_CACHE"):
        fetch_model(NAME, endpoint=server.url)
    assert [name for name, _ in hub.asked] == [LIST]


@pytest.mark.usefixtures("no_network")
def test_offline_nothing_is_asked(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    monkeypatch.setenv("REGARD_OFFLINE", "1")
    with pytest.raises(InputError, match="REGARD_OFFLINE is set"):
        regard.load(NAME)
    for words in (("translate", "--model", NAME, "A cat."), ("fetch", "opus-mt-en-fr"), ("fetch", "enja-50k")):
        code, out, err = call(*words)
        assert (code, out) == (2, "")
        assert "REGARD_OFFLINE is set" in err
        assert err.count("\n") == 1


@pytest.mark.usefixtures("no_network")
def test_a_misspelt_folder_is_no_name_of_the_hub() -> None:
    for path in ("runs/mine", "mine", "a/b/opus-mt-en-fr", "./opus/en-fr"):
        with pytest.raises(BundleError, match="no model at"):
            find_model(Path(path))
