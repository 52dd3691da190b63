"""Downloads from a real server on this machine: resumed, checked, whole or not at all; and members of archives."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import socket
import tarfile
import zipfile
from pathlib import Path

import pytest

from fileserver import FileServer
from regard.data.compressed import check_archive, open_member
from regard.data.fetch import TRIES, copy_from, download, verify
from regard.errors import InputError

CONTENT = bytes(range(256)) * 5000  # more than one chunk
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("checksum", [SHA256, "md5:" + hashlib.md5(CONTENT).hexdigest(), None])
def test_a_file_comes_whole(tmp_path: Path, checksum: str | None) -> None:
    seen: list[tuple[int, int | None]] = []
    with FileServer({"a.bin": CONTENT}).running() as server:
        download(f"{server.url}/a.bin", tmp_path / "a.bin", checksum, lambda *told: seen.append(told))
        assert server.asked == [("a.bin", None)]
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    assert listing(tmp_path) == ["a.bin"]
    assert seen[0] == (0, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(CONTENT[:1000])
    with FileServer({"a.bin": CONTENT}).running() as server:
        download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
        assert server.asked == [("a.bin", "bytes=1000-")]
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_part_that_is_all_needs_only_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(CONTENT)
    with FileServer({"a.bin": CONTENT}).running() as server:
        download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_begun_again(tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(CONTENT + b"more")
    with FileServer({"a.bin": CONTENT}).running() as server:
        download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_server_without_ranges_sends_all_again(tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(b"x" * 1000)
    with FileServer({"a.bin": CONTENT}, ranges=False).running() as server:
        download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_connection_that_breaks_is_taken_up(tmp_path: Path) -> None:
    """Each answer breaks after half: two more requests bring the rest, from where the one before ended."""
    half = len(CONTENT) // 2
    with FileServer({"a.bin": CONTENT}, cut_after=half).running() as server:
        download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
        assert server.asked == [("a.bin", None), ("a.bin", f"bytes={half}-")]
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def test_one_that_breaks_always_keeps_what_came(tmp_path: Path) -> None:
    with FileServer({"a.bin": CONTENT}, cut_after=1000).running() as server:
        with pytest.raises(InputError, match=f"broke {TRIES} times; 3,000 bytes came and are kept, type the same"):
            download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
        assert (tmp_path / "a.bin.part").read_bytes() == CONTENT[:3000]
        server.cut_after = None
        download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


def archives(folder: Path) -> dict[str, bytes]:
    """CONTENT in every kind of archive."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "a.zip", "w") as box:
        box.writestr("a.bin", CONTENT)
    tar(folder / "a.tar", "w", {"a.bin": CONTENT})
    tar(folder / "a.tgz", "w:gz", {"a.bin": CONTENT})
    (folder / "a.gz").write_bytes(gzip.compress(CONTENT))
    (folder / "a.xz").write_bytes(lzma.compress(CONTENT))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz", "a.gz", "a.xz"])
def test_an_archive_cut_off_without_a_length_is_not_taken_for_whole(tmp_path: Path, name: str) -> None:
    """Neither length nor checksum is known: the archive itself shows that its end is missing."""
    content = archives(tmp_path / "made")[name]
    home = tmp_path / "home"
    home.mkdir()
    with FileServer({name: content}, cut_after=len(content) // 2, lengths=False).running() as server:
        with pytest.raises(InputError, match=r"is cut off or damaged \(.*\); fetch it again"):
            download(f"{server.url}/{name}", home / name)
        assert len(server.asked) == TRIES
        assert listing(home) == []
        server.cut_after = None
        download(f"{server.url}/{name}", home / name)
    assert (home / name).read_bytes() == content


def test_a_cut_between_two_members_of_a_tar_is_seen(tmp_path: Path) -> None:
    content = archives(tmp_path / "made")["a.tar"]
    end = 512 + -(-len(CONTENT) // 512) * 512  # of the first member
    (tmp_path / "a.tar").write_bytes(content[:end])
    with pytest.raises(InputError, match="cut off or damaged"):
        check_archive(tmp_path / "a.tar", "a.tar")
    (tmp_path / "a.tar").write_bytes(content)
    check_archive(tmp_path / "a.tar", "a.tar")


def test_a_damaged_file_is_not_kept(tmp_path: Path) -> None:
    damaged = CONTENT[:-1] + b"?"
    with (
        FileServer({"a.bin": damaged}).running() as server,
        pytest.raises(InputError, match=r"its sha256 is \w{64}, but must be"),
    ):
        download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
    assert listing(tmp_path) == []


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with (
        FileServer({}).running() as server,
        pytest.raises(
            InputError,
            match=r"a.bin cannot be fetched: 404 Not Found; another folder .* given as mirror",
        ),
    ):
        download(f"{server.url}/a.bin", tmp_path / "a.bin", SHA256)
    assert listing(tmp_path) == []


def test_no_server_at_all(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InputError, match=r"cannot be reached \(Connection refused\); is there a network"):
        download(f"http://127.0.0.1:{port}/a.bin", tmp_path / "a.bin")


def test_only_the_web_is_fetched_from(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must begin with https"):
        download((tmp_path / "secret").as_uri(), tmp_path / "a.bin")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to stand for a full disk")
def test_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").symlink_to("/dev/full")
    with (
        FileServer({"a.bin": CONTENT}).running() as server,
        pytest.raises(InputError, match=r"a.bin.part cannot be written: No space left on device; make room"),
    ):
        download(f"{server.url}/a.bin", tmp_path / "a.bin")


def test_a_local_copy_may_be_compressed(tmp_path: Path) -> None:
    (tmp_path / "a.xz").write_bytes(lzma.compress(CONTENT))
    (tmp_path / "b").write_bytes(CONTENT)
    made = copy_from(tmp_path, "a", tmp_path / "made")
    assert made == tmp_path / "made"
    verify(made, SHA256, "a")
    assert copy_from(tmp_path, "b", tmp_path / "unused") == tmp_path / "b"
    with pytest.raises(InputError, match=r"has no c, nor c with .gz, .xz, .bz2, .zst"):
        copy_from(tmp_path, "c", tmp_path / "unused")
    assert not (tmp_path / "unused").exists()


def tar(path: Path, mode: str, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, mode) as box:  # type: ignore[call-overload]
        for name, content in members.items():
            item = tarfile.TarInfo(name)
            item.size = len(content)
            box.addfile(item, io.BytesIO(content))
    return path


def test_members_of_archives(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as box:
        box.writestr("in/a.txt", b"zip")
    places = [
        (tmp_path / "z.zip", "in/a.txt", b"zip"),
        (tar(tmp_path / "t.tgz", "w:gz", {"other": b"", "./in/a.txt": b"tgz"}), "in/a.txt", b"tgz"),
        (tar(tmp_path / "t.tar", "w", {"a.gz": gzip.compress(b"tar, gz")}), "a.gz", b"tar, gz"),
    ]
    for name, content in (("a.gz", gzip.compress(b"gz")), ("a.xz", lzma.compress(b"xz")), ("a.txt", b"plain")):
        (tmp_path / name).write_bytes(content)
    places += [(tmp_path / "a.gz", "", b"gz"), (tmp_path / "a.xz", "", b"xz"), (tmp_path / "a.txt", "", b"plain")]
    for archive, member, content in places:
        with open_member(archive, member) as stream:
            assert stream.read() == content
    for archive, member, _ in places[:3]:
        with pytest.raises(InputError, match=f"has no {member}x; it has"), open_member(archive, f"{member}x"):
            pass


def test_no_archive_reaches_outside(tmp_path: Path) -> None:
    """A name with dots is read like any other and becomes no path; a link is not followed."""
    (tmp_path / "secret").write_bytes(b"secret")
    home = tmp_path / "home"
    home.mkdir()
    tar(home / "t.tgz", "w:gz", {"../evil": b"evil", "/abs": b"abs"})
    with open_member(home / "t.tgz", "../evil") as stream:
        assert stream.read() == b"evil"
    assert listing(tmp_path) == ["home", "secret"]
    assert listing(home) == ["t.tgz"]
    with tarfile.open(home / "link.tar", "w") as box:
        link = tarfile.TarInfo("a.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "../secret"
        box.addfile(link)
    with (
        pytest.raises(InputError, match=r"a.txt in .*link.tar is not a plain file"),
        open_member(home / "link.tar", "a.txt"),
    ):
        pass


@pytest.mark.parametrize("name", ["t.tgz", "a.gz", "a.xz"])
def test_a_damaged_archive(tmp_path: Path, name: str) -> None:
    whole = {"a.gz": gzip.compress(CONTENT), "a.xz": lzma.compress(CONTENT)}
    if name == "t.tgz":
        tar(tmp_path / name, "w:gz", {"a": CONTENT})
    else:
        (tmp_path / name).write_bytes(whole[name])
    cut = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(cut[: len(cut) // 2])
    with (
        pytest.raises(InputError, match=r"is damaged \(.*\); remove it and fetch it again"),
        open_member(tmp_path / name, "a" if name == "t.tgz" else "") as stream,
    ):
        stream.read()
