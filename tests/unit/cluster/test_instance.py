"""Clusters on this machine, as far as no process of theirs is needed for it."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from windvane.cluster.instance import Instance, Process, prepare, remember, stop


async def test_a_cluster_that_stops_by_itself_just_when_it_is_asked_to_has_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, process = Instance("default", tmp_path / "cluster"), Process(4_000_000)
    prepare(instance)
    remember(instance, process)
    with instance.lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert instance.process() == process

        def kill(pid: int, number: int) -> None:
            held.close()
            raise ProcessLookupError

        monkeypatch.setattr(os, "kill", kill)
        assert await stop(instance) == process


def test_a_directory_that_another_start_has_just_made_is_a_clusters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, listed = Instance("default", tmp_path / "cluster"), Path.iterdir

    def later(directory: Path) -> Iterator[Path]:
        instance.lock.touch()
        return listed(directory)

    monkeypatch.setattr(Path, "iterdir", later)
    prepare(instance)
    assert instance.lock.exists()
