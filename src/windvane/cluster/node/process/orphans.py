"""Processes that an agent left behind when it was killed: they are known by their records, and ended.

A launcher ends by itself when its agent does, with everything below it. This is for the case that it could not.
"""

import logging
import os
import signal
from contextlib import suppress
from pathlib import Path

import msgspec

from windvane import ambient

log = logging.getLogger(__name__)

PATIENCE = 10.0
"""How many seconds what was killed has to be gone."""


class LauncherRecord(msgspec.Struct):
    """A launcher that was started."""

    pid: int
    since: str
    """When, in the kernel's own words: by then another process may have its pid."""


def record(pod: Path, container: str, pid: int) -> None:
    """Note that a launcher was started for a container."""
    if (since := started(pid)) is not None:
        _file(pod, container).write_bytes(msgspec.json.encode(LauncherRecord(pid, since)))


def forget(pod: Path, container: str) -> None:
    """Note that it has ended."""
    _file(pod, container).unlink(missing_ok=True)


async def end_leftovers(pods: Path) -> int:
    """End what was recorded and still runs, and wait until it is gone; how many processes that were."""
    killed = _kill_recorded(pods)
    # What comes next may write to the same volume and listen on the same port: one at a time.
    deadline = ambient.monotonic() + PATIENCE
    while left := [pid for pid, since in killed.items() if started(pid) == since]:
        if ambient.monotonic() > deadline:
            log.warning("processes %s of a node agent that was killed can't be ended; going on", left)
            break
        await ambient.sleep(0.01)
    return len(killed)


def _kill_recorded(pods: Path) -> dict[int, str]:
    """Kill what was recorded and still runs, and what is below it: pids, and when they were started."""
    found: dict[int, str] = {}
    for file in pods.glob("*/*.pid"):
        with suppress(msgspec.DecodeError):
            recorded = msgspec.json.decode(file.read_bytes(), type=LauncherRecord)
            if started(recorded.pid) == recorded.since:
                for pid in (recorded.pid, *descendants(recorded.pid)):
                    if (since := started(pid)) is not None:
                        found[pid] = since
        file.unlink(missing_ok=True)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


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
    """When a process was started; None if there is none of that pid, or only a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[19] if fields[0] not in "ZX" else None


def _file(pod: Path, container: str) -> Path:
    return pod / f"{container}.pid"
