"""The store: transactions of several processes, versions, and one line for everything that can go wrong."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from regard.serve.state import server_state as state_folders
from regard.serve.state import store as stores
from regard.serve.state.keys import ApiKeys
from regard.serve.state.server_state import LOCK, PREFIX, remove_stale_folders, state_folder
from regard.serve.state.store import FILE, MIGRATIONS, StateError, Store, in_thread, on_network


def test_what_was_written_is_there_after_it_was_opened_again(tmp_path: Path) -> None:
    with Store(tmp_path / "a" / "b") as store:
        secret, key = ApiKeys(store).add("alice")
    with Store(tmp_path / "a" / "b") as store:
        assert ApiKeys(store).find(secret) == key


def test_only_this_user_can_read_it(tmp_path: Path) -> None:
    with Store(tmp_path / "state") as store:
        ApiKeys(store).add("alice")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").iterdir()}
        assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert modes[FILE] == 0o600
    assert set(modes.values()) == {0o600}  # the log too


def test_a_block_that_raises_changes_nothing(tmp_path: Path) -> None:
    def half(store: Store) -> None:
        with store.writing() as connection:
            connection.execute("INSERT INTO used VALUES ('a', 'b', 1)")
            raise ZeroDivisionError

    with Store(tmp_path) as store:
        with pytest.raises(ZeroDivisionError):
            half(store)
        with store.reading() as connection:
            assert connection.execute("SELECT count(*) FROM used").fetchone()[0] == 0


def test_two_processes_lose_no_addition(tmp_path: Path) -> None:
    """Each adds 1 to the same number 150 times, in transactions that first read and then write; both make the file."""
    program = (
        "import sys; from pathlib import Path; from regard.serve.state.limits import Limiter; "
        "from regard.serve.state.store import Store; limiter = Limiter(Store(Path(sys.argv[1]), lambda: 0.0)); "
        "print(sum(limiter.charge('a', 1, 250) is None for _ in range(150)))"
    )
    two = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "new")], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    counts = [int(process.communicate()[0]) for process in two]
    assert sum(counts) == 250
    assert min(counts) >= 100


def test_a_busy_store_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "BUSY_SECONDS", 0.01)
    with (
        Store(tmp_path) as one,
        Store(tmp_path) as two,
        one.writing(),
        pytest.raises(StateError, match="was in use by other processes"),
        two.writing(),
    ):
        pass


def test_a_full_disk_is_one_line_and_what_was_there_stays(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        secret, key = ApiKeys(store).add("alice")
        pages = store._take()  # a disk that is full, as SQLite sees it
        pages.execute("PRAGMA max_page_count = 1")
        store._put_back(pages)
        names = iter(f"more{number}" for number in range(1000))
        with pytest.raises(StateError, match=r"the disk of .* is full; free some room"):
            all(ApiKeys(store).add(name) for name in names)
        assert ApiKeys(store).find(secret) == key
        assert ApiKeys(store).add("bob")[1].name == "bob"  # there is room again


@pytest.mark.skipif(os.name != "posix", reason="sizes of files are limited as POSIX does it")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """The system refuses to let any file grow further; the key that was made before is still there afterwards."""
    program = (
        "import resource, signal, sys; from pathlib import Path; from regard.serve.state.keys import ApiKeys; "
        "from regard.serve.state.store import Store; store = Store(Path(sys.argv[1])); keys = ApiKeys(store); "
        "print(keys.add('first')[0]); signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); "
        "[keys.add(f'k{i}') for i in range(5000)]"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stderr.strip().splitlines()[-1].startswith("regard.serve.state.store.StateError: ")
    with Store(tmp_path) as store:
        key = ApiKeys(store).find(done.stdout.strip())
        assert key is not None
        assert key.name == "first"


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StateError, match=rf"written by a newer regard \(version 99 .* knows {len(MIGRATIONS)}\)"):
        Store(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("content", "said"), [(b"not a database at all" * 100, "damaged or no database"), (None, "of another program")]
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content:
        (tmp_path / FILE).write_bytes(content)
    else:
        connection = sqlite3.connect(tmp_path / FILE)
        connection.execute("CREATE TABLE mine (x)")
        connection.close()
    with pytest.raises(StateError, match=said):
        Store(tmp_path)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"the folder .*file/state cannot be used: Not a directory"):
        Store(tmp_path / "file" / "state")


def test_from_asyncio_with_many_at_once(tmp_path: Path) -> None:
    async def all_of_them(store: Store) -> list[bool]:
        from regard.serve.state.limits import Limiter

        limiter = Limiter(store)
        return [v is None for v in await asyncio.gather(*(in_thread(limiter.request, "a", 20) for _ in range(50)))]

    with Store(tmp_path, lambda: 1000.0) as store:
        assert sum(asyncio.run(all_of_them(store))) == 20
        assert len(store._idle) <= stores.THREADS
    threads = [thread for thread in threading.enumerate() if "AnyIO" in thread.name]
    assert len(threads) <= stores.THREADS


def test_a_store_that_hangs_makes_nobody_wait_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "BUSY_SECONDS", 0.02)
    hung = threading.Event()

    async def ask() -> None:
        holding = [asyncio.create_task(in_thread(hung.wait)) for _ in range(stores.THREADS)]
        await asyncio.sleep(0)
        try:
            with pytest.raises(StateError, match="calls of the store have taken all threads"):
                await in_thread(str)
        finally:
            hung.set()
        await asyncio.gather(*holding)
        assert await in_thread(str) == ""  # the threads are free again

    asyncio.run(ask())


def test_a_network_file_system_is_seen(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 0:50 / /srv/shared\\040files rw shared:1 - nfs4 server:/x rw\n"
        "3 1 8:2 / /srv/shared\\040files/local rw - xfs /dev/sdb rw\n"
    )
    assert not on_network(Path("/srv/shared"), mounts)
    assert on_network(Path("/srv/shared files/regard"), mounts)
    assert not on_network(Path("/srv/shared files/local/regard"), mounts)


def test_without_the_write_ahead_log_it_works_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "on_network", lambda folder: True)
    with Store(tmp_path) as store:
        secret, key = ApiKeys(store).add("alice")
        assert ApiKeys(store).find(secret) == key
        with store.reading() as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete"


def test_a_private_folder_is_removed_at_the_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(state_folders.tempfile, "tempdir", str(tmp_path))
    with state_folder(None) as folder:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        Store(folder).close()
        with state_folder(None) as other:  # of another server at the same time
            assert other != folder
        assert folder.exists()
    assert not list(tmp_path.iterdir())
    with state_folder(tmp_path / "given") as folder:
        Store(folder).close()
    assert (tmp_path / "given" / FILE).exists()


def test_folders_of_killed_servers_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_folders.tempfile, "tempdir", str(tmp_path))
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    (left / LOCK).write_text("1")
    young = tmp_path / f"{PREFIX}young"
    young.mkdir()
    (young / LOCK).write_text("1")
    with state_folder(None) as used:
        for folder in (left, used):
            os.utime(folder, (1000, 1000))
        remove_stale_folders(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {young.name, used.name}
