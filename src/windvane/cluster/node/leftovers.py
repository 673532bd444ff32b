"""Processes that an agent left behind when it was killed: they are known by their records, and ended.

A launcher ends by itself when its agent does, with everything below it. This is for the case that it could not.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import msgspec


class Recorded(msgspec.Struct):
    """A launcher that was started."""

    pid: int
    since: str
    """When, in the kernel's own words: by then another process may have its pid."""


def record(pod: Path, container: str, pid: int) -> None:
    """Note that a launcher was started for a container."""
    if (since := started(pid)) is not None:
        _file(pod, container).write_bytes(msgspec.json.encode(Recorded(pid, since)))


def forget(pod: Path, container: str) -> None:
    """Note that it has ended."""
    _file(pod, container).unlink(missing_ok=True)


def end_leftovers(pods: Path) -> int:
    """End what was recorded and still runs; how many launchers that were."""
    ended = 0
    for file in pods.glob("*/*.pid"):
        with suppress(msgspec.DecodeError):
            recorded = msgspec.json.decode(file.read_bytes(), type=Recorded)
            if started(recorded.pid) == recorded.since:
                ended += 1
                for pid in (recorded.pid, *descendants(recorded.pid)):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        file.unlink(missing_ok=True)
    return ended


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    parents: dict[int, int] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            with suppress(OSError):
                parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def started(pid: int) -> str | None:
    """When a process was started; None if there is none of that pid."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _file(pod: Path, container: str) -> Path:
    return pod / f"{container}.pid"
