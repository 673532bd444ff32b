"""This machine, as the demo needs it: a place of its own, that no other run has, and the processes of members."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[4]
"""The checkout: commands that are shown are to be given there."""
SAMPLES = ROOT / "operators/etcd/samples"


class Trouble(Exception):
    """The demo can't go on; the message says why, and what to do."""


def place(environ: Mapping[str, str]) -> Path:
    """Where the demo keeps its logs: beside the clusters of windvane."""
    shared = Path(environ.get("XDG_DATA_HOME") or "")
    home = (shared if shared.is_absolute() else Path.home() / ".local/share") / "windvane"
    return Path(environ.get("WINDVANE_HOME") or home).absolute() / "etcd-demo"


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Have the place to ourselves for the length of the block. `Trouble` if another run has it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = (directory / "lock").open("a+")
    except OSError as error:
        raise Trouble(
            f"nothing can be written to {directory}: {error.strerror or error}.\n"
            "Have it elsewhere: make run WINDVANE_HOME=DIRECTORY"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise Trouble(
                f"it runs already, with pid {file.read().strip() or 'unknown'}: look at it there, or stop it there.\n"
                "To have another one beside it: make run WINDVANE_HOME=DIRECTORY"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def process_at(address: str) -> int | None:
    """The process of the etcd that serves clients at an address; None if there is none, or if that can't be told."""
    flag = f"--listen-client-urls=http://{address}:".encode()
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it is gone by now
        if words[0].endswith(b"etcd") and any(word.startswith(flag) for word in words):
            return int(each.name)
    return None


def shown(path: Path) -> str:
    """A path as one writes it in the checkout."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
