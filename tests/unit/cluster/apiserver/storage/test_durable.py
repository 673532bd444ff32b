"""What the store's file keeps, and what is said when it can't be used."""

import asyncio
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from windvane.cluster.apiserver.storage.record import Key, Record
from windvane.cluster.apiserver.storage.store import Expired, Store, UnusableFile, WriteFailed

PODS = "/pods"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


async def put(store: Store, name: str, size: int = 10) -> Record:
    key = Key(PODS, "default", name)
    entry = store.get(key)
    return await store.commit(key, entry.revision if entry else 0, lambda revision: b"%d" % revision + b"x" * size)


async def delete(store: Store, name: str) -> Record:
    key = Key(PODS, "default", name)
    entry = store.get(key)
    assert entry
    return await store.commit(key, entry.revision, lambda revision: b"%d" % revision, delete=True)


async def known(store: Store) -> list[Record]:
    watch = store.watch(PODS, store.floor)
    found = []
    while watch.progress < store.revision:
        found.append(await anext(watch))
    return found


def rows(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    found = [revision for (revision,) in connection.execute("SELECT revision FROM record ORDER BY revision")]
    connection.close()
    return found


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that SQLite runs."""
    seen: list[str] = []
    connect = sqlite3.connect

    def traced(path: Path, *, timeout: float, isolation_level: None) -> sqlite3.Connection:
        connection = connect(path, timeout=timeout, isolation_level=isolation_level)
        connection.set_trace_callback(seen.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    return seen


async def test_a_store_comes_back_as_it_was(path: Path) -> None:
    store = Store.open(path)
    for name in ("a", "b", "a", "c"):
        await put(store, name)
    await delete(store, "b")
    entries, records = store.entries(PODS), await known(store)
    await store.close()

    store = Store.open(path)
    assert store.entries(PODS) == entries
    assert await known(store) == records
    assert (store.floor, store.revision) == (0, 5)
    assert (await put(store, "d")).revision == 6
    await store.close()


async def test_numbers_go_on_when_everything_was_deleted_and_forgotten(path: Path) -> None:
    store = Store.open(path)
    await put(store, "a")
    await delete(store, "a")
    await store.compact(2)
    await store.close()
    assert rows(path) == []

    store = Store.open(path)
    assert (store.floor, store.revision) == (2, 2)
    assert (await put(store, "a")).revision == 3
    await store.close()


async def test_the_floor_comes_back_too(path: Path) -> None:
    store = Store.open(path)
    for _ in range(4):
        await put(store, "a")
    await store.compact(2)
    await store.close()
    assert rows(path) == [2, 3, 4]  # 2 is what 3 replaced

    store = Store.open(path)
    with pytest.raises(Expired):
        store.watch(PODS, 1)
    assert [entry.revision for entry in store.entries_at(PODS, "", 2)] == [2]
    await store.close()


async def test_the_file_holds_what_is_there_and_a_bounded_history(path: Path) -> None:
    store = Store.open(path, history=20)
    for number in range(200):
        await put(store, f"pod-{number % 10}")
    await store.close()
    assert len(rows(path)) <= 10 + 20


async def test_writes_of_one_turn_of_the_loop_are_one_transaction(path: Path, statements: list[str]) -> None:
    store = Store.open(path)
    statements.clear()
    await asyncio.gather(*(put(store, str(number)) for number in range(100)))
    assert [each for each in statements if not each.startswith("INSERT")] == ["BEGIN IMMEDIATE", "COMMIT"]
    assert len(statements) == 102
    await store.close()


async def test_forgetting_is_part_of_the_transaction_that_needs_room(path: Path, statements: list[str]) -> None:
    store = Store.open(path, history=1)
    await put(store, "a")
    statements.clear()
    await put(store, "a")
    assert [each.split()[0] for each in statements] == ["BEGIN", "INSERT", "UPDATE", "COMMIT"]
    statements.clear()
    await put(store, "a")
    assert [each.split()[0] for each in statements] == ["BEGIN", "INSERT", "DELETE", "UPDATE", "COMMIT"]
    await store.close()


async def test_a_batch_that_is_under_way_is_written_on_close(path: Path) -> None:
    store = Store.open(path)
    writing = asyncio.ensure_future(put(store, "a"))
    asyncio.get_running_loop().call_soon(lambda: asyncio.ensure_future(store.close()))
    assert (await writing).revision == 1
    with pytest.raises(WriteFailed, match="/pods/default/b was not written, because the store is closed"):
        await put(store, "b")
    store = Store.open(path)
    assert store.revision == 1
    await store.close()


@pytest.mark.parametrize("fsync", [False, True])
async def test_what_is_committed_is_in_the_file_before_it_is_closed(path: Path, tmp_path: Path, fsync: bool) -> None:
    store = Store.open(path, fsync=fsync)
    await put(store, "a")
    copy = tmp_path / "copy.db"  # as a killed process would leave it
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    await store.close()
    store = Store.open(copy)
    assert store.revision == 1
    await store.close()


async def test_other_users_can_not_read_secrets_in_the_files(path: Path, tmp_path: Path) -> None:
    store = Store.open(path)
    await put(store, "a")
    assert {each.name: oct(each.stat().st_mode & 0o777) for each in os.scandir(tmp_path)} == {
        "store.db": "0o600",
        "store.db-wal": "0o600",
    }
    await store.close()


# Failures


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can grow beyond some kilobytes: enough for the store's tables, not for much more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_fails_the_batch_and_changes_nothing(path: Path) -> None:
    store = Store.open(path, history=2)
    await put(store, "a")
    await put(store, "a")
    before = store.entries(PODS), store.floor, store.revision
    watch = store.watch(PODS, 2)
    with full_disk():
        failed = await asyncio.gather(put(store, "a"), put(store, "b", 200_000), return_exceptions=True)
    for error in failed:
        assert isinstance(error, WriteFailed)
        assert f"nothing was changed, because the store {path} can't be written" in str(error)
    assert (store.entries(PODS), store.floor, store.revision) == before

    assert (await put(store, "c")).revision == 3
    assert (await anext(watch)).key.name == "c"
    await store.close()
    store = Store.open(path)
    assert [entry.key.name for entry in store.entries(PODS)] == ["a", "c"]
    await store.close()


async def test_a_full_disk_stops_compaction_where_it_is(path: Path) -> None:
    store = Store.open(path)
    await asyncio.gather(*(put(store, f"{number % 2}", 1000) for number in range(2)))
    for number in range(60):
        await put(store, f"{number % 2}", 1000)
    with full_disk(), pytest.raises(WriteFailed):
        await store.compact(60)
    assert store.floor == 0
    await store.compact(60)
    assert store.floor == 60
    await store.close()


def test_a_file_in_use_by_another_process_is_refused_with_the_remedy(path: Path) -> None:
    store = Store.open(path)
    script = f"""
from pathlib import Path
from windvane.cluster.apiserver.storage.store import Store, UnusableFile
try:
    Store.open(Path({str(path)!r}))
except UnusableFile as error:
    print(error, end="")
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == (
        f"the store {path} is in use by another process: stop the cluster that runs there (`windvane cluster stop`), "
        "or give this one another data directory"
    )
    asyncio.run(store.close())


async def test_a_file_can_not_be_opened_twice_in_one_process(path: Path) -> None:
    store = Store.open(path)
    with pytest.raises(UnusableFile, match="in use"):
        Store.open(path)
    await put(store, "a")
    await store.close()


async def test_a_file_of_a_newer_format_is_refused(path: Path) -> None:
    await Store.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(UnusableFile, match="was written by a newer windvane: it has format 2, and this windvane reads"):
        Store.open(path)


def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE photos (id)")
    connection.close()
    with pytest.raises(UnusableFile, match="is a database of another program"):
        Store.open(path)


def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    path.write_text("my notes, which are longer than a header would be. " * 20)
    with pytest.raises(UnusableFile, match="is not a store"):
        Store.open(path)
    assert path.read_text().startswith("my notes")


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match=r"can't open the store .*/nowhere/store.db: No such file or directory"):
        Store.open(tmp_path / "nowhere" / "store.db")


def test_a_directory_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match=f"can't open the store {tmp_path}: unable to open database file"):
        Store.open(tmp_path)


async def test_a_missing_record_is_damage(path: Path) -> None:
    store = Store.open(path)
    for _ in range(3):
        await put(store, "a")
    await store.close()
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM record WHERE revision = 2")
    connection.commit()
    connection.close()
    for _ in range(2):  # the second time shows that the first one let go of the file
        with pytest.raises(UnusableFile, match="is damaged: record 2 is missing"):
            Store.open(path)
