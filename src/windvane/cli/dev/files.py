"""Which files were saved: watched in directories with all that is in them, or without what is further down."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from windvane import ambient

QUIET = 50
"""Milliseconds without a change after which what was saved is told: formatters and editors write a file twice."""


class Files:
    """Looks at directories, which may become others. Needs watchfiles, of windvane[dev]."""

    def __init__(self) -> None:
        self._saved: set[Path] = set()
        self._some = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._watched: tuple[frozenset[Path], frozenset[Path]] = (frozenset(), frozenset())

    async def look_at(self, whole: Iterable[Path], flat: Iterable[Path], *, since: datetime) -> None:
        """Look at these from now on. Python files that were saved between `since` and now are told as well."""
        there = frozenset(each for each in whole if each.is_dir())
        wanted = (there, frozenset(each for each in flat if each.is_dir()) - there)
        if wanted == self._watched:
            return
        await self.close()
        self._watched = wanted
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._follow(sorted(directories), recursive))
            for directories, recursive in zip(wanted, (True, False), strict=True)
            if directories
        ]
        await ambient.sleep(0)  # each of them looks by now
        if missed := {each for each in _sources(*wanted) if _saved_at(each) > since.timestamp()}:
            self._add(missed)

    async def saved(self) -> set[Path]:
        """Wait for files that were saved, made or deleted."""
        await self.wait()
        files, self._saved = self._saved, set()
        self._some.clear()
        return files

    async def wait(self) -> None:
        """Wait until there are such files, and leave them there."""
        await self._some.wait()

    def _add(self, files: set[Path]) -> None:
        self._saved |= files
        self._some.set()

    async def close(self) -> None:
        """Look no more."""
        for each in self._tasks:
            each.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []

    async def _follow(self, directories: Sequence[Path], recursive: bool) -> None:
        from watchfiles import DefaultFilter, awatch

        ordinary = DefaultFilter()  # not .git, .venv, __pycache__, nor what editors leave

        def wanted(change: Any, path: str) -> bool:
            return ordinary(change, path) and not Path(path).is_dir()

        async for changes in awatch(*directories, recursive=recursive, watch_filter=wanted, step=QUIET):
            self._add({Path(path) for _, path in changes})


def _sources(whole: Iterable[Path], flat: Iterable[Path]) -> Iterable[Path]:
    for each in whole:
        yield from each.rglob("*.py")
    for each in flat:
        yield from each.glob("*.py")


def _saved_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
