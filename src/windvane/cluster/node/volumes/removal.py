"""Removing the files of pods. The kernel leaves a directory in overlay mounts that not even its owner may open."""

import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove(directory: Path) -> None:
    """Remove a directory and all that is in it, as far as that is possible."""
    open_up(directory)
    shutil.rmtree(directory, ignore_errors=True)


def open_up(directory: Path) -> None:
    """Let its owner open every directory below one."""
    for place, below, _ in os.walk(directory):  # which looks into those only afterwards
        for name in below:
            path = Path(place, name)
            if not path.is_symlink() and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
                with suppress(FileNotFoundError):  # another process removes it, too, and was faster
                    path.chmod(0o700)
