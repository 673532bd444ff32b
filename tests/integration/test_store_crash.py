"""A process that is killed with SIGKILL at any moment has lost nothing that it confirmed."""

import asyncio
import hashlib
import itertools
import os
import random  # noqa: TID251 - seeded, so that a failure can be repeated as nearly as a kill can be
import signal
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from windvane.cluster.apiserver.storage.store import Key, Record, Store

COLLECTION = "demo/widgets"
KILLS = 15
WRITERS = 4
NAMES = 12  # per writer: few, so that most writes replace something
HISTORY = 64  # few, so that old records are being forgotten all the time


@dataclass
class Confirmed:
    """What the killed processes said they had written."""

    records: dict[int, tuple[str, bool, str]] = field(default_factory=dict)  # revision -> name, deleted, digest

    def read(self, line: bytes) -> None:
        revision, name, deleted, digest = line.decode().split()
        assert int(revision) not in self.records, "a number was given twice"
        self.records[int(revision)] = (name, deleted == "True", digest)

    @property
    def newest(self) -> int:
        return max(self.records, default=0)

    def last_of_each_name(self) -> dict[str, tuple[int, bool, str]]:
        return {name: (at, deleted, digest) for at, (name, deleted, digest) in sorted(self.records.items())}


def test_no_confirmed_write_is_lost_and_none_is_half_done(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    chance = random.Random(20)
    confirmed = Confirmed()
    for _ in range(KILLS):
        before = confirmed.newest
        write_until_killed(path, confirmed, after=chance.randrange(1, 600))
        assert confirmed.newest > before
        asyncio.run(check(path, confirmed))
    assert confirmed.newest > KILLS * HISTORY


def test_a_process_may_die_between_any_two_statements(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    chance = random.Random(21)
    confirmed = Confirmed()
    # The first ones make the file; the later ones add a batch, and most of those forget old records too.
    for statement in [5, 8, 11, *chance.sample(range(20, 1000), 9)]:
        write_until_dead(path, confirmed, at=statement)
        asyncio.run(check(path, confirmed))
    assert confirmed.newest > HISTORY


def write_until_killed(path: Path, confirmed: Confirmed, *, after: int) -> None:
    """Start a process that writes, and kill it some moments after it has confirmed `after` writes."""
    with subprocess.Popen([sys.executable, __file__, path], stdout=subprocess.PIPE) as child:
        assert child.stdout
        for line in itertools.islice(child.stdout, after):
            confirmed.read(line)
        child.kill()
        for line in whole_lines(child.stdout):
            confirmed.read(line)


def write_until_dead(path: Path, confirmed: Confirmed, *, at: int) -> None:
    """Let a process write until SQLite is about to run its statement number `at`; there it kills itself."""
    child = subprocess.run([sys.executable, __file__, path, str(at)], stdout=subprocess.PIPE, check=False)
    assert child.returncode == -signal.SIGKILL
    for line in child.stdout.splitlines():
        confirmed.read(line)


def whole_lines(output: IO[bytes]) -> list[bytes]:
    return [line for line in output if line.endswith(b"\n")]


async def check(path: Path, confirmed: Confirmed) -> None:
    store = Store.open(path, history=HISTORY)
    try:
        # Nothing confirmed is missing, and at most the batch that was under way has come on top of it.
        assert confirmed.newest <= store.revision <= confirmed.newest + WRITERS
        assert store.revision - store.floor <= HISTORY + WRITERS

        records = await history(store)
        assert [record.revision for record in records] == list(range(store.floor + 1, store.revision + 1))
        for record in records:
            assert whole(record.value, record.revision)
            said = (record.key.name, record.deleted, digest_of(record.value))
            assert confirmed.records.setdefault(record.revision, said) == said

        # From here on the batch that was under way counts as confirmed too: it must not disappear again.
        there = {entry.key.name: entry for entry in store.entries(COLLECTION)}
        last = confirmed.last_of_each_name()
        assert set(there) == {name for name, (_, deleted, _) in last.items() if not deleted}
        for name, entry in there.items():
            assert whole(entry.value, entry.revision)
            assert (entry.revision, False, digest_of(entry.value)) == last[name]
    finally:
        await store.close()


async def history(store: Store) -> list[Record]:
    watch = store.watch(COLLECTION, store.floor)
    found = []
    while watch.progress < store.revision:
        found.append(await anext(watch))
    return found


def made(revision: int) -> bytes:
    """A value whose every part shows its revision; some are longer than a page of the file."""
    return b"%d " % revision * (1 + revision * 37 % 1500)


def whole(value: bytes, revision: int) -> bool:
    return value == made(revision)


def digest_of(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


# The process that is killed.


async def write_on(path: Path) -> None:
    store = Store.open(path, history=HISTORY)
    await asyncio.gather(*(write_as(store, writer) for writer in range(WRITERS)))


async def write_as(store: Store, writer: int) -> None:
    for turn in itertools.count(store.revision):
        key = Key(COLLECTION, f"team-{writer}", f"{writer}-{turn % NAMES}")
        entry = store.get(key)
        delete = entry is not None and turn % 5 == 0
        record = await store.commit(key, entry.revision if entry else 0, made, delete=delete)
        sys.stdout.write(f"{record.revision} {key.name} {delete} {digest_of(record.value)}\n")
        sys.stdout.flush()


def die_at(statement: int) -> None:
    numbers = itertools.count(1)
    connect = sqlite3.connect

    def trace(_: str) -> None:
        if next(numbers) == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(path: Path, *, timeout: float, isolation_level: None) -> sqlite3.Connection:
        connection = connect(path, timeout=timeout, isolation_level=isolation_level)
        connection.set_trace_callback(trace)
        return connection

    sqlite3.connect = traced  # type: ignore[assignment]


if __name__ == "__main__":
    if len(sys.argv) > 2:
        die_at(int(sys.argv[2]))
    asyncio.run(write_on(Path(sys.argv[1])))
