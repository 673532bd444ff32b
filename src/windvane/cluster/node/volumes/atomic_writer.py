"""Files that change all at once: a volume whose content is replaced is seen as it was or as it will be, never between.

    VOLUME/..2026_11_16_02_00_00.1/key     what there is
    VOLUME/..data  ─▶ ..2026_11_16_02_00_00.1
    VOLUME/key     ─▶ ..data/key

To change anything, a new directory is filled, and `..data` is put in place of the old link in one step. This is how a
kubelet does it, and programs that watch their configuration know to look for it.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from windvane import ambient

DATA = "..data"


class FileContent(NamedTuple):
    """What a file holds, and its permissions."""

    data: bytes
    mode: int


def write_all(volume: Path, files: Mapping[str, FileContent]) -> bool:
    """Have `volume` hold these files and no others; whether anything changed."""
    current = volume / DATA
    if current.is_symlink() and _read_all(current) == dict(files):
        return False
    volume.mkdir(parents=True, exist_ok=True)
    old = current.readlink().name if current.is_symlink() else ""
    new = volume / f"..{ambient.now():%Y_%m_%d_%H_%M_%S}.{ambient.token(8)}"
    new.mkdir(mode=0o755)
    for path, content in files.items():
        file = new / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.data)
        file.chmod(content.mode)
    wanted = {Path(path).parts[0] for path in files}
    for name in wanted:
        if not (volume / name).is_symlink():
            (volume / name).symlink_to(f"{DATA}/{name}")  # which leads nowhere yet: whatever is seen is whole
    link = volume / "..data_tmp"
    link.unlink(missing_ok=True)
    link.symlink_to(new.name)
    link.replace(current)
    for each in volume.iterdir():
        if not each.name.startswith("..") and each.name not in wanted:
            each.unlink()
    if old:
        shutil.rmtree(volume / old, ignore_errors=True)
    return True


def _read_all(directory: Path) -> dict[str, FileContent]:
    return {
        str(file.relative_to(directory)): FileContent(file.read_bytes(), file.stat().st_mode & 0o7777)
        for file in directory.rglob("*")
        if file.is_file()
    }
