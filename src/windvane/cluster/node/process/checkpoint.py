"""The last instance of each container, on disk: an agent that was killed before it could tell knows it when it is back.

    CONTAINER/life.json    which instance this is; written before it is launched
    CONTAINER/begun        it runs, since this file was made
    CONTAINER/ended        it has ended by itself, when this file was made, with the code that is in it

A container runtime keeps this for a kubelet. Without it, a container that must run once would run again, because the
status of its pod does not say yet that it did. The last two are written by the launcher, which outlives the agent for
long enough. How a container ended that was asked to says nothing about its work, and is not kept.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from windvane.cluster.node.pod.record import Exited, Started

FILE, BEGUN, ENDED = "life.json", "begun", "ended"


class Checkpoint(msgspec.Struct):
    """One instance of a container."""

    attempt: int
    id: str


def write(container: Path, attempt: int, id_: str) -> None:
    """Note which instance is about to be launched."""
    (container / FILE).write_bytes(msgspec.json.encode(Checkpoint(attempt, id_)))


def recall(name: str, container: Path, attempts: int) -> Iterator[Started | Exited]:
    """What became of the last instance, if it may not have been told: that there were `attempts` of them was."""
    with suppress(OSError, ValueError):
        life = msgspec.json.decode((container / FILE).read_bytes(), type=Checkpoint)
        begun = _made(container / BEGUN)
        if life.attempt >= attempts:
            yield Started(name, life.id, begun)
        if life.attempt >= attempts - 1:
            yield Exited(name, int((container / ENDED).read_text()), _made(container / ENDED))


def _made(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)
