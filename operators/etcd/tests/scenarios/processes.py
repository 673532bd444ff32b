"""Processes of this machine, as /proc has them: what descends from a process, and what a container is told."""

from pathlib import Path

PROC = Path("/proc")


def parents() -> dict[int, int]:
    """Each process, and who started it. Zombies are not among them: they only wait to be noticed."""
    found = {}
    for there in PROC.iterdir():
        if there.name.isdecimal() and (stat := _read(there / "stat")):
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(there.name)] = int(parent)
    return found


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    above = parents()
    found = [pid]
    for each in found:
        found += [child for child, parent in above.items() if parent == each]
    return found[1:]


def started(pid: int) -> str:
    """When a process was started, in the kernel's words; nothing if it is gone. Later, its pid may be another's."""
    stat = _read(PROC / str(pid) / "stat")
    return stat.rpartition(")")[2].split()[19] if stat else ""


def program(pid: int) -> str:
    """What a process runs."""
    return _read(PROC / str(pid) / "comm").strip()


def environment(pid: int) -> dict[str, str]:
    """The variables that a process was started with."""
    entries = _read(PROC / str(pid) / "environ").split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""  # it has ended
