"""Memory limits, where the system lets us: a control group for each container that has one.

That is so for root on most systems, and for users to whom a control group was delegated. Elsewhere limits are not
enforced: a container that takes too much is not stopped.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from windvane.api.quantity import Quantity

ROOT = Path("/sys/fs/cgroup")


@dataclass
class Group:
    """The control groups of one container."""

    places: list[Path] = field(default_factory=list)

    def was_out_of_memory(self) -> bool:
        """Whether something of it was killed because it took too much memory."""
        for place in self.places:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    counts = dict(line.split() for line in (place / name).read_text().splitlines())
                    if int(counts.get("oom_kill", 0)):
                        return True
        return False

    def remove(self) -> None:
        """Remove them: nothing runs in them any more."""
        for place in self.places:
            with suppress(OSError):
                place.rmdir()


class Cgroups:
    """Where control groups for memory can be made, if anywhere."""

    def __init__(self, root: Path = ROOT) -> None:
        self._file, self._place = _memory(root)

    @property
    def allowed(self) -> bool:
        """Whether limits can be enforced."""
        return self._place is not None

    def make(self, name: str, limits: Mapping[str, Quantity]) -> Group:
        """A control group with these limits; an empty one if there are none, or they can't be enforced."""
        limit = limits.get("memory")
        if limit is None or self._place is None:
            return Group()
        place = self._place / f"windvane-{name}"
        try:
            place.mkdir(exist_ok=True)
            (place / self._file).write_text(str(int(limit)))
        except OSError:
            with suppress(OSError):
                place.rmdir()
            return Group()
        return Group([place])


def _memory(root: Path) -> tuple[str, Path | None]:
    """The file that holds a limit, and the directory in which to make groups."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, controllers, path = line.split(":", 2)
            if "memory" in controllers.split(","):
                place = root / "memory" / path.lstrip("/")
                return "memory.limit_in_bytes", place if os.access(place, os.W_OK) else None
            if number == "0" and (root / "cgroup.controllers").exists():
                place = root / path.lstrip("/")
                enabled = (place / "cgroup.subtree_control").read_text().split()
                return "memory.max", place if os.access(place, os.W_OK) and "memory" in enabled else None
    return "", None
