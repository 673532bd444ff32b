"""Directories that stand for disks: what the StorageClass `standard` provisions."""

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path


class Directories:
    """The directories of a cluster's volumes, all below one."""

    def __init__(self, base: Path) -> None:
        self._base = base

    def path_of(self, volume: str) -> Path:
        """Where the data of a volume is."""
        return self._base / volume

    async def make(self, volume: str) -> Path:
        """Make the directory of a volume, unless it is there. Pods of any user may write to it."""
        path = self.path_of(volume)
        await asyncio.to_thread(self._make, path)
        return path

    async def remove(self, volume: str) -> None:
        """Remove the directory of a volume and all that is in it, if it is there."""
        with suppress(FileNotFoundError):
            await asyncio.to_thread(shutil.rmtree, self.path_of(volume))

    def _make(self, path: Path) -> None:
        self._base.mkdir(mode=0o755, parents=True, exist_ok=True)
        path.mkdir(exist_ok=True)
        path.chmod(0o777)
