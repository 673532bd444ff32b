"""The journal: passes in a file that is bounded, read while it is written."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import islice
from pathlib import Path

import pytest

from windvane import ambient
from windvane.runtime.observability.history import Pass, Trigger, Write
from windvane.runtime.observability.journal import (
    BATCH,
    Journal,
    JournalEntry,
    follow_journal,
    is_written,
    read_journal,
)


def done(name: str, *, initial: bool = False, writes: int = 0) -> Pass:
    return Pass(
        id=name,
        namespace="default",
        name=name,
        began=ambient.now(),
        triggers=[Trigger(f"Website {name} changed", initial=initial)],
        writes=[Write("apply services x")] * writes,
        result="done",
    )


def names(entries: list[JournalEntry]) -> list[str]:
    return [entry.done.name for entry in entries if entry.done is not None]


async def test_what_is_written_is_read_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "history" / "website.jsonl"
    for name in ("a", "b"):
        journal = Journal(file, "website")
        journal.write(done(name))
        journal.close()
    entries = read_journal(file)
    assert [(each.started, each.stopped, each.done is not None) for each in entries] == [
        (True, False, False),
        (False, False, True),
        (False, True, False),
    ] * 2
    assert len({each.run for each in entries}) == 2
    assert names(entries) == ["a", "b"]


async def test_it_is_known_whether_its_operator_runs(tmp_path: Path) -> None:
    file = tmp_path / "it"
    assert is_written(file) is None
    replicas = [Journal(file, "website") for _ in range(2)]
    assert is_written(file)
    replicas[0].close()
    assert is_written(file)
    replicas[1].close()
    assert is_written(file) is False
    replicas[1].write(done("a"))  # a pass that ended later than all else
    assert names(read_journal(file)) == []


async def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    Journal(tmp_path / "it", "website").close()
    assert modes(tmp_path) == {"it": 0o600, "it.lock": 0o600}


def modes(directory: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mode & 0o777 for file in directory.iterdir()}


async def test_what_was_all_right_at_the_start_is_not_written_down(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "it", "website")
    journal.write(done("quiet", initial=True))
    journal.write(done("mended", initial=True, writes=1))
    journal.write(done("changed"))
    journal.close()
    assert names(read_journal(tmp_path / "it")) == ["mended", "changed"]


async def test_it_is_written_soon_also_if_nothing_else_happens(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "it", "website")
    for name in ("a", "b"):
        journal.write(done(name))
    assert names(read_journal(tmp_path / "it")) == []
    await ambient.sleep(1)
    assert names(read_journal(tmp_path / "it")) == ["a", "b"]
    for number in range(BATCH):
        journal.write(done(str(number)))
    assert len(names(read_journal(tmp_path / "it"))) == 2 + BATCH


async def test_it_does_not_grow_beyond_twice_its_size_and_the_latest_are_there(tmp_path: Path) -> None:
    file = tmp_path / "it"
    journals = [Journal(file, "website", most=4096) for _ in range(2)]
    for number in range(300):
        journals[number % 2].write(done(str(number)))
        journals[number % 2].flush()
    assert max(file.stat().st_size, file.with_name("it.1").stat().st_size) <= 4096
    kept = names(read_journal(file))
    assert kept == [str(number) for number in range(300 - len(kept), 300)]
    assert file.with_name("it.1").stat().st_size > 4096 - 1024, "what is kept is a full file, and what came after it"


async def test_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "it"
    journal = Journal(file, "website")
    with file.open("ab") as torn:
        torn.write(b'{"operator": "web\n\xff\n')
    journal.write(done("a"))
    journal.close()
    assert names(read_journal(file)) == ["a"]
    assert read_journal(tmp_path / "nothing") == []


async def test_a_reader_that_follows_sees_each_pass_once_also_across_files(tmp_path: Path) -> None:
    file = tmp_path / "it"
    seen: list[str] = []

    async def follow() -> None:
        async with aclosing(_names(file)) as following:
            async for name in following:
                seen.append(name)
                if name == "199":
                    return

    following = asyncio.get_running_loop().create_task(follow())
    await ambient.sleep(1)
    journal = Journal(file, "website", most=8192)
    for number in range(200):
        journal.write(done(str(number)))
        if number % 20 == 0:  # the reader keeps up with a file; of two that came and went it would miss one
            await ambient.sleep(1)
    await asyncio.wait_for(following, 30)
    assert seen == [str(number) for number in range(200)]


async def _names(file: Path) -> AsyncGenerator[str, None]:
    async with aclosing(follow_journal(file)) as entries:
        async for entry in entries:
            if entry.done is not None:
                yield entry.done.name


async def test_a_disk_that_is_full_stops_no_operator(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "it"
    file.symlink_to("/dev/full")
    with caplog.at_level(logging.WARNING):
        journal = Journal(file, "website")
        for name in islice("abc", 3):
            journal.write(done(name))
        journal.close()
    assert len(caplog.records) == 1
    assert "No space left on device" in caplog.text
