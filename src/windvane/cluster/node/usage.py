"""How much of the machine the containers of a node use, read from the system's list of processes now and then."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from windvane import ambient
from windvane.cluster.kubelet import Usage, Use

EVERY = 15.0
"""How many seconds lie between two looks: as long as metrics-server takes."""
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PROC = Path("/proc")

Launchers = Callable[[], Mapping[str, Mapping[str, int]]]
"""By a pod's uid and a container's name, the pid of the process that everything of it is below."""


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What the system says of one process."""

    parent: int
    ticks: int
    memory: int
    since: int


@dataclass
class Meter:
    """Measures, and remembers what it measured last."""

    launchers: Launchers
    last: Usage | None = None
    _before: dict[tuple[int, int], int] = field(default_factory=dict)
    _at: float = 0.0

    async def run(self) -> None:
        """Measure until cancelled."""
        self.measure()
        await ambient.sleep(1.0)  # the first figures come soon
        while True:
            self.measure()
            await ambient.sleep(EVERY)

    def measure(self) -> None:
        """Look once. Use of a CPU is what was added since the last look, so the first one says nothing."""
        now, processes = ambient.monotonic(), read_processes()
        ticks = {(pid, each.since): each.ticks for pid, each in processes.items()}
        window, before = now - self._at, self._before
        self._at, self._before = now, ticks
        if not before or window <= 0:
            return

        def use_of(pids: Iterable[int]) -> Use:
            there = [(pid, processes[pid]) for pid in pids if pid in processes]
            spent = sum(each.ticks - before.get((pid, each.since), 0) for pid, each in there)
            return Use(spent / TICKS / window, sum(each.memory for _, each in there))

        below = _tree(processes)
        pods = {
            uid: {name: use_of(_descendants(pid, below)) for name, pid in containers.items()}
            for uid, containers in self.launchers().items()
        }
        self.last = Usage(ambient.now(), window, use_of(processes), pods)


def read_processes(proc: Path = PROC) -> dict[int, ProcessUsage]:
    """All processes of this machine. What runs beneath them all, such as the kernel's own threads, is among them."""
    found = {}
    for place in proc.iterdir() if proc.is_dir() else ():
        if place.name.isdecimal():
            with suppress(OSError, IndexError):
                words = (place / "stat").read_text().rpartition(")")[2].split()
                ticks = int(words[11]) + int(words[12])
                found[int(place.name)] = ProcessUsage(int(words[1]), ticks, int(words[21]) * PAGE, int(words[19]))
    return found


def _tree(processes: Mapping[int, ProcessUsage]) -> dict[int, list[int]]:
    below: dict[int, list[int]] = {}
    for pid, each in processes.items():
        below.setdefault(each.parent, []).append(pid)
    return below


def _descendants(pid: int, below: Mapping[int, list[int]]) -> list[int]:
    """All below the launcher, but not itself: it is windvane's, not the container's."""
    found = [*below.get(pid, ())]
    for each in found:
        found += below.get(each, ())
    return found
