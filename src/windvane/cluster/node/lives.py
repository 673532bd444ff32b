"""The last instance of each container, on disk: an agent that was killed before it could tell knows it when it is back.

A container runtime keeps this for a kubelet. Without it, a container that must run once would run again, because the
status of its pod does not say yet that it did.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from windvane.cluster.node.record import Exited, Started

FILE = "life.json"


class Life(msgspec.Struct):
    """One instance of a container."""

    attempt: int
    started: Started
    exited: Exited | None = None


def remember(container: Path, attempt: int, report: Started | Exited) -> None:
    """Write down what became of an instance. If that is not possible, it is as if it had not been known."""
    with suppress(OSError):
        match report:
            case Started():
                life: Life | None = Life(attempt, report)
            case Exited():
                life = _read(container)
                if life is not None:
                    life.exited = report
        if life is not None:
            new = container / f"{FILE}.new"
            new.write_bytes(msgspec.json.encode(life))
            new.replace(container / FILE)


def recall(container: Path, attempts: int) -> Iterator[Started | Exited]:
    """What is known of the last instance, and may not have been told: that there were `attempts` was."""
    life = _read(container)
    if life is None or life.attempt < attempts - 1:
        return
    if life.attempt >= attempts:
        yield life.started
    if life.exited is not None:
        yield life.exited


def _read(container: Path) -> Life | None:
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((container / FILE).read_bytes(), type=Life)
    return None
