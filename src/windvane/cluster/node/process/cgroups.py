"""Limits of memory and CPU, where the system lets us: a control group for each container that has one.

That is so for root on most systems, and for users to whom a control group was delegated. Elsewhere limits are not
enforced: a container that takes too much is not stopped. What a container took before it had a limit of a resource is
not counted against it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from windvane import Quantity

ROOT = Path("/sys/fs/cgroup")
PERIOD = 100_000
"""Of how many microseconds a container may use its share of CPU."""


class InUse(Exception):
    """A container uses more than it is to be limited to."""


@dataclass
class Group:
    """The control groups of one container: one in each hierarchy, or one in all."""

    name: str
    places: list[Path] = field(default_factory=list)
    limits: dict[str, Quantity] = field(default_factory=dict)
    """What was set, by resource."""

    def was_out_of_memory(self) -> bool:
        """Whether something of it was killed because it took too much memory."""
        for place in self.places:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    counts = dict(line.split() for line in (place / name).read_text().splitlines())
                    if int(counts.get("oom_kill", 0)):
                        return True
        return False

    def memory(self) -> int:
        """How many bytes of memory it uses, if that is counted."""
        for place in self.places:
            for name in ("memory.current", "memory.usage_in_bytes"):
                with suppress(OSError):
                    return int((place / name).read_text())
        return 0

    def remove(self) -> None:
        """Remove them: nothing runs in them any more."""
        for place in self.places:
            with suppress(OSError):
                place.rmdir()


class Cgroups:
    """Where control groups can be made, if anywhere."""

    def __init__(self, root: Path = ROOT, own: Path = Path("/proc/self/cgroup")) -> None:
        self._places = dict(_places(root, own))

    def limits(self, resource: str) -> bool:
        """Whether limits of a resource can be enforced."""
        return resource in self._places

    def remove_leftovers(self, uids: Iterable[str]) -> None:
        """Remove the groups of the containers of these pods: nothing of them runs."""
        for uid in uids:
            for parent in {parent for parent, _ in self._places.values()}:
                Group(uid, list(parent.glob(f"windvane-{uid}-*"))).remove()

    def make(self, name: str, limits: Mapping[str, Quantity]) -> Group:
        """Control groups with these limits; none for what has no limit, or can't be limited."""
        group = Group(name)
        for resource, limit in limits.items():
            with suppress(OSError):
                self._limit(group, resource, limit)
        return group

    def resize(self, group: Group, limits: Mapping[str, Quantity], processes: Callable[[], Iterable[int]]) -> None:
        """Change the limits of a group while `processes` run. `InUse`, or an `OSError`, if that is not possible."""
        memory, had = limits.get("memory"), group.limits.get("memory")
        if memory is not None and (had is None or memory < had) and (used := group.memory()) >= int(memory):
            # Asked for this, the kernel would kill something, or refuse.
            raise InUse(f"memory limit ({int(memory)}) below current usage ({used})")
        before = list(group.places)
        for resource, limit in limits.items():
            self._limit(group, resource, limit)
        for place in group.places:
            if place not in before:
                _move(processes, place)

    def _limit(self, group: Group, resource: str, limit: Quantity) -> None:
        if resource not in self._places:
            return
        parent, unified = self._places[resource]
        place = parent / f"windvane-{group.name}"
        if place not in group.places:
            with suppress(OSError):
                place.rmdir()  # what is counted in one that was left behind is not this container's
            place.mkdir(exist_ok=True)
            group.places.append(place)
        file, value = _setting(resource, limit, unified=unified)
        (place / file).write_text(value)
        group.limits[resource] = limit


def _move(processes: Callable[[], Iterable[int]], place: Path) -> None:
    """Move all processes into a group, also those that they start meanwhile."""
    moved: set[int] = set()
    while new := set(processes()) - moved:
        for pid in new:
            with suppress(OSError):  # it may have ended
                (place / "cgroup.procs").write_text(str(pid))
        moved |= new


def _setting(resource: str, limit: Quantity, *, unified: bool) -> tuple[str, str]:
    """What to write into which file."""
    if resource == "memory":
        return "memory.max" if unified else "memory.limit_in_bytes", str(int(limit))
    quota = max(int(limit * PERIOD), 1000)
    return ("cpu.max", f"{quota} {PERIOD}") if unified else ("cpu.cfs_quota_us", str(quota))


def _places(root: Path, own: Path) -> Iterator[tuple[str, tuple[Path, bool]]]:
    """For each resource that can be limited, the directory in which to make groups, and whether it is for all."""
    with suppress(OSError):
        for line in own.read_text().splitlines():
            number, controllers, path = line.split(":", 2)
            if number == "0":
                place = root / path.lstrip("/")
                with suppress(OSError):
                    enabled = (place / "cgroup.subtree_control").read_text().split()
                    if os.access(place, os.W_OK):
                        yield from ((each, (place, True)) for each in ("memory", "cpu") if each in enabled)
                continue
            for each in ("memory", "cpu"):
                place = root / each / path.lstrip("/")
                if each in controllers.split(",") and os.access(place, os.W_OK):
                    yield each, (place, False)
