"""Logs are read in threads, which go on when whoever asked has left: nothing may stay open then."""

import asyncio
import gc
import threading
from itertools import count
from pathlib import Path

import pytest

from windvane.cluster.kubelet import LogOptions
from windvane.cluster.node.logs import reader
from windvane.cluster.node.logs.reader import read_log
from windvane.cluster.node.logs.writer import log_files


@pytest.mark.parametrize("look", [1, 2])  # when the reading begins, and when it goes on
async def test_who_leaves_while_a_log_is_opened_leaves_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: int
) -> None:
    file = tmp_path / "0.log"
    looking, go_on = threading.Event(), threading.Event()
    looks = count(1)

    def held(log: Path) -> list[Path]:
        if next(looks) == look:
            file.write_bytes(b"2026-11-16T02:00:00.123456789Z stdout F hello\n")
            looking.set()
            assert go_on.wait(30)
        return log_files(log)

    monkeypatch.setattr(reader, "log_files", held)

    async def follow() -> None:
        async for _ in read_log(file, LogOptions(follow=True), lambda: False):
            pass

    following = asyncio.create_task(follow())
    assert await asyncio.to_thread(looking.wait, 30)
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
    go_on.set()
    await asyncio.get_running_loop().shutdown_default_executor()  # the thread has ended
    gc.collect()  # what was left open is complained about, and that is an error here
