"""Files that are written all or not at all: new ones, and changed ones that are put back if something fails."""

from collections.abc import Mapping
from pathlib import Path

from windvane import ambient


def write_all(new: Mapping[Path, str], changed: Mapping[Path, str]) -> None:
    """Have new files be there, which must not be there yet, and others be changed; on any error, all is as before."""
    made: list[Path] = []
    before: dict[Path, bytes] = {}
    try:
        for path, text in new.items():
            made += _directories(path.parent)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
        for path, text in changed.items():
            content = path.read_bytes()
            _replace(path, text.encode())
            before[path] = content
    except BaseException:
        for path, content in before.items():
            _replace(path, content)
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _directories(path: Path) -> list[Path]:
    """Make a directory with those above it; the ones that were not there."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _replace(path: Path, content: bytes) -> None:
    """Have a file contain something else, or what it did: its place is taken by another one that is complete."""
    real = path.resolve()
    draft = real.with_name(f".{real.name}.{ambient.token(5)}")
    try:
        draft.write_bytes(content)
        draft.chmod(real.stat().st_mode & 0o7777)
        draft.replace(real)
    finally:
        draft.unlink(missing_ok=True)
