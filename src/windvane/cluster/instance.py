"""A cluster on this machine: the directory it lives in, whether it runs, and how it starts and stops.

    DIRECTORY/
      lock           held by the process that runs the cluster, for as long as it does
      cluster.json   what that process is, or was: its pid, its port
      kubeconfig     how to talk to it; only the owner can read it, as all here
      pki/           certificates, keys, tokens
      store.sqlite   every object, with SQLite's own files beside it; not there if all is in memory
      node/          the files of its pods: volumes, logs, what they wrote
      log            what a detached cluster says
      history/       the passes of its controllers, and of operators that run on it

Whether a cluster runs is what the lock says, not the file with the pid: the system lets go of a lock even if the
process is killed, and a pid may meanwhile be another process's.
"""

import fcntl
import os
import re
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from windvane import ambient

DEFAULT_NAME = "default"
HISTORY = "history"
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
STOP_WITHIN = 15.0
POLL = 0.05


class InstanceError(Exception):
    """The cluster can't do what was asked; the message says why and what to do."""


class AlreadyRunning(InstanceError):
    """Another process runs the cluster."""


class NotRunning(InstanceError):
    """No process runs the cluster."""


class Process(msgspec.Struct, frozen=True):
    """What is known about the process that runs a cluster, or ran it last."""

    pid: int
    port: int = 0
    """Where it listens; while it starts, where it listened last."""
    memory: bool = False
    """Whether its objects are gone when it stops."""
    services: str = ""
    """The network where the Services that are on disk have their addresses."""

    @property
    def url(self) -> str:
        """Where it is."""
        return f"https://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class Instance:
    """One cluster and its directory."""

    name: str
    directory: Path

    @property
    def lock(self) -> Path:
        """Held by the process that runs the cluster."""
        return self.directory / "lock"

    @property
    def kubeconfig(self) -> Path:
        """How to talk to it."""
        return self.directory / "kubeconfig"

    @property
    def store(self) -> Path:
        """Its objects."""
        return self.directory / "store.sqlite"

    @property
    def volumes(self) -> Path:
        """Where the data of its PersistentVolumes is."""
        return self.directory / "volumes"

    @property
    def memory_volumes(self) -> Path:
        """The same while it is in memory only: what it has on disk is not to be touched."""
        return self.directory / "volumes-in-memory"

    @property
    def log(self) -> Path:
        """Its output when it runs in the background."""
        return self.directory / "log"

    @property
    def history(self) -> Path:
        """The passes of its controllers; those of operators are beside it."""
        return self.directory / HISTORY / "cluster.jsonl"

    @property
    def context(self) -> str:
        """What it is called in a kubeconfig."""
        return "windvane" if self.name == DEFAULT_NAME else f"windvane-{self.name}"

    def last_process(self) -> Process | None:
        """The process that runs it, or ran it last."""
        try:
            return msgspec.json.decode((self.directory / "cluster.json").read_bytes(), type=Process)
        except (OSError, msgspec.DecodeError):
            return None

    def process(self) -> Process | None:
        """The process that runs it; None if none does."""
        try:
            with self.lock.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return self.last_process()
        except OSError:
            pass
        return None


def find_instance(name: str | None, data: Path | None, environ: Mapping[str, str]) -> Instance:
    """The cluster of that name, in the directory `data` or in the usual place for one of its name."""
    name = name or DEFAULT_NAME
    if not NAME.fullmatch(name):
        raise InstanceError(
            f"{name!r} can't be a cluster's name: use up to 63 lower-case letters, digits and dashes, such as web-2."
        )
    return Instance(name, data.absolute() if data is not None else home(environ) / "clusters" / name)


def home(environ: Mapping[str, str]) -> Path:
    """Where clusters live unless told otherwise: $WINDVANE_HOME, or windvane in the user's data directory."""
    if chosen := environ.get("WINDVANE_HOME"):
        return Path(chosen).absolute()
    shared = environ.get("XDG_DATA_HOME", "")
    # By its specification, a relative one is to be ignored.
    return (Path(shared) if Path(shared).is_absolute() else Path.home() / ".local/share") / "windvane"


def prepare(instance: Instance) -> None:
    """Make the cluster's directory, unless it is one that has other things in it."""
    directory = instance.directory
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In this order: another start may be about to make the lock, which is the first file in every directory.
        if any(directory.iterdir()) and not instance.lock.exists():
            raise InstanceError(
                f"{directory} has other files in it and is no cluster of windvane: name a new or an empty directory."
            )
        instance.lock.touch(mode=0o600)
    except FileExistsError:
        raise InstanceError(f"{directory} is a file: name a directory, which may be a new one.") from None
    except OSError as error:
        words = error.strerror or error
        raise InstanceError(f"a cluster can't live in {directory}: {words}. Name another directory.") from None


@asynccontextmanager
async def claimed(instance: Instance) -> AsyncIterator[None]:
    """Hold the cluster's lock for the length of the block; `AlreadyRunning` if another process does."""
    with instance.lock.open("r+b") as file:
        for attempt in range(4):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                # A process that only looks whether it is free holds it, too, for a moment.
                if attempt == 3:
                    raise already_running(instance) from None
                await ambient.sleep(POLL)
        yield


async def stop(instance: Instance) -> Process:
    """Ask the cluster to stop, and wait until it has."""
    process = instance.process()
    if process is None:
        raise not_running(instance)
    with suppress(ProcessLookupError):  # it has stopped since we looked
        os.kill(process.pid, signal.SIGTERM)
    deadline = ambient.monotonic() + STOP_WITHIN
    while instance.process() is not None:
        if ambient.monotonic() > deadline:
            raise InstanceError(
                f"the cluster {instance.name!r} (pid {process.pid}) was asked to stop {STOP_WITHIN:g} s ago and still "
                f"runs. End it with `kill -9 {process.pid}`: no change that it confirmed is lost."
            )
        await ambient.sleep(POLL)
    return process


async def reset(instance: Instance) -> None:
    """Remove everything that the cluster has on disk. `AlreadyRunning` if it runs."""
    if not instance.lock.is_file():
        raise NotRunning(f"there is no cluster {instance.name!r} in {instance.directory}: nothing to reset.")
    from windvane.cluster.node.volumes.removal import open_up

    async with claimed(instance):
        for file in (*instance.directory.glob("store.sqlite*"), instance.kubeconfig, instance.log):
            file.unlink(missing_ok=True)
        (instance.directory / "cluster.json").unlink(missing_ok=True)
        for directory in (
            instance.directory / "pki",
            instance.directory / "node",
            instance.directory / HISTORY,
            instance.volumes,
            instance.memory_volumes,
        ):
            open_up(directory)
            with suppress(FileNotFoundError):
                shutil.rmtree(directory)
        instance.lock.unlink()
        with suppress(OSError):  # what others put there stays
            instance.directory.rmdir()


def not_running(instance: Instance) -> NotRunning:
    """The error that says so, and what to do."""
    start = command(instance, "start")
    return NotRunning(f"the cluster {instance.name!r} in {instance.directory} is not running. Start it: {start}")


def already_running(instance: Instance) -> AlreadyRunning:
    """The error that says so, and what to do."""
    process = instance.last_process()
    return AlreadyRunning(
        f"the cluster {instance.name!r} is running already, with pid {process.pid if process else 'unknown'}.\n"
        f"  use it:                    export KUBECONFIG={instance.kubeconfig}\n"
        f"  stop it:                   {command(instance, 'stop')}\n"
        "  start another beside it:   windvane cluster start --name NAME"
    )


def command(instance: Instance, verb: str) -> str:
    """What to write in a shell to do this with this cluster."""
    words = ["windvane cluster", verb]
    if instance.name != DEFAULT_NAME:
        words += ["--name", instance.name]
    if instance.directory != home(os.environ) / "clusters" / instance.name:
        words += ["--data", shlex.quote(str(instance.directory))]
    return " ".join(words)


def images_file(environ: Mapping[str, str]) -> Path:
    """What a user has said about images, for all clusters."""
    return home(environ) / "images.json"


def remember(instance: Instance, process: Process) -> None:
    """Note which process runs it."""
    from windvane.cluster.pki import write_private

    write_private(instance.directory / "cluster.json", msgspec.json.encode(process))
