"""A cluster on this machine: the directory it lives in, whether it runs, and how it starts and stops.

    DIRECTORY/
      lock           held by the process that runs the cluster, for as long as it does
      cluster.json   what that process is, or was: its pid, its port
      kubeconfig     how to talk to it; only the owner can read it, as all here
      pki/           certificates, keys, tokens
      store.sqlite   every object, with SQLite's own files beside it; not there if all is in memory
      node/          the files of its pods: volumes, logs, what they wrote
      log            what a detached cluster says

Whether a cluster runs is what the lock says, not the file with the pid: the system lets go of a lock even if the
process is killed, and a pid may meanwhile be somebody else's.
"""

import errno
import fcntl
import os
import re
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from ipaddress import IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from windvane import ambient

if TYPE_CHECKING:
    from windvane.cluster.apiserver.access.audit import AuditLog
    from windvane.cluster.apiserver.access.jwt import SigningKey
    from windvane.cluster.apiserver.answer import User
    from windvane.cluster.apiserver.http.shell import Serving
    from windvane.cluster.apiserver.server import APIServer
    from windvane.cluster.controlplane import Pods
    from windvane.cluster.pki import PKI

    class Opener(Protocol):
        """What opens an API server: `apiserver.server.open_server`, unless somebody tests."""

        def __call__(
            self,
            path: Path | None,
            *,
            tokens: Mapping[str, User],
            key: SigningKey,
            require_accounts: bool,
            audit_log: AuditLog | None,
            service_network: str | None,
        ) -> APIServer: ...


DEFAULT_NAME = "default"
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
        """Held by whoever runs the cluster."""
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
        """What it says when nobody sees it."""
        return self.directory / "log"

    @property
    def context(self) -> str:
        """What it is called in a kubeconfig."""
        return "windvane" if self.name == DEFAULT_NAME else f"windvane-{self.name}"

    def last_process(self) -> Process | None:
        """Who runs it, or ran it last."""
        try:
            return msgspec.json.decode((self.directory / "cluster.json").read_bytes(), type=Process)
        except (OSError, msgspec.DecodeError):
            return None

    def process(self) -> Process | None:
        """Who runs it; None if nobody does."""
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


async def run(
    instance: Instance,
    open_server: "Opener",
    *,
    port: int | None,
    memory: bool,
    controllers: bool,
    pods: str = "auto",
    nodes: int = 1,
    host_paths: bool = False,
    audit_log: Path | None = None,
    started: Callable[[Process], None],
    until: Awaitable[object],
) -> None:
    """Run the cluster in this process until `until` is done. `started` is called when it can be used.

    Without a `port` it takes the one that it had last, if that is free: a kubeconfig that was copied stays good.
    Without `controllers` it is an API server alone; with them it has nodes, whose pods are processes, simulated, or
    either as their images allow (`pods`), and see directories of this machine only with `host_paths`. All requests are
    recorded in `audit_log`, if there is one.
    """
    import asyncio

    from windvane.cluster.apiserver.access.jwt import SigningKey
    from windvane.cluster.apiserver.answer import User
    from windvane.cluster.pki import ADMIN, ADMIN_GROUP, NAMES, PKIError, open_pki, write_private

    prepare(instance)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(claimed(instance))
        before = instance.last_process()
        last_port = before.port if before else 0
        services = before.services if before else ""
        network = _claim_network(instance, services, stack) if controllers else None
        if network is not None and not memory:
            services = network
        _remember(instance, Process(os.getpid(), last_port, memory, services))
        try:
            names = NAMES if network is None else (*NAMES, str(IPv4Network(network)[1]))
            pki = open_pki(instance.directory / "pki", names=names)
        except PKIError as error:
            raise InstanceError(str(error)) from error
        audit = None if audit_log is None else _open_audit_log(audit_log)
        server = open_server(
            None if memory else instance.store,
            tokens={pki.admin_token: User(ADMIN, (ADMIN_GROUP,))},
            key=SigningKey(pki.service_account_key.read_bytes),
            require_accounts=controllers,
            audit_log=audit,
            service_network=network,
        )
        stack.push_async_callback(server.close)
        await server.start()
        serving = await _listen(server, pki, [last_port, 0] if port is None else [port], audit, stack)
        process = Process(os.getpid(), serving.port, memory, services)
        write_private(instance.kubeconfig, pki.kubeconfig(serving.url, name=instance.context).encode())
        _remember(instance, process)
        started(process)
        if controllers:
            # In another thread: the API answers already, and must not stand still while we load what comes after it.
            await asyncio.to_thread(import_module, "windvane.cluster.controlplane")
            from windvane.cluster.controlplane import Pods

            place, images = instance.directory / "node", images_file(os.environ)
            how = Pods(pods, nodes, place, images, host_paths, serving.port)
            volumes = _memory_volumes(instance, stack) if memory else instance.volumes
            await _begin_controllers(server, pki, volumes, how, stack)
        await until


def prepare(instance: Instance) -> None:
    """Make the cluster's directory, unless it is one that has other things in it."""
    directory = instance.directory
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not instance.lock.exists() and any(directory.iterdir()):
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
                # Somebody who only looks whether it is free holds it, too, for a moment.
                if attempt == 3:
                    raise already_running(instance) from None
                await ambient.sleep(POLL)
        yield


async def stop(instance: Instance) -> Process:
    """Ask the cluster to stop, and wait until it has."""
    process = instance.process()
    if process is None:
        raise not_running(instance)
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
    from windvane.cluster.node.removal import open_up

    async with claimed(instance):
        for file in (*instance.directory.glob("store.sqlite*"), instance.kubeconfig, instance.log):
            file.unlink(missing_ok=True)
        (instance.directory / "cluster.json").unlink(missing_ok=True)
        for directory in (
            instance.directory / "pki",
            instance.directory / "node",
            instance.volumes,
            instance.memory_volumes,
        ):
            open_up(directory)
            with suppress(FileNotFoundError):
                shutil.rmtree(directory)
        instance.lock.unlink()
        with suppress(OSError):  # what somebody else put there stays
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


def _claim_network(instance: Instance, had: str, stack: AsyncExitStack) -> str:
    """Where the cluster has the addresses of its Services while it runs, and no other on this machine has any."""
    from windvane.cluster.node.addresses import claim_for_services

    try:
        claim = claim_for_services(str(instance.directory), had)
    except RuntimeError as error:
        raise InstanceError(f"there is no room for the Services of the cluster {instance.name!r}: {error}.") from None
    stack.callback(claim.close)
    return claim.network


def _open_audit_log(file: Path) -> "AuditLog":
    from windvane.cluster.apiserver.access.audit import AuditLog

    try:
        return AuditLog(file)
    except OSError as error:
        raise InstanceError(f"the audit log can't be written to {file}: {error.strerror}. Name another file.") from None


async def _listen(
    server: "APIServer", pki: "PKI", ports: list[int], audit: "AuditLog | None", stack: AsyncExitStack
) -> "Serving":
    from windvane.cluster.apiserver.http.shell import serve

    for port in ports:
        try:
            return await stack.enter_async_context(
                serve(server.handle, pki=pki, tokens=server.tokens, port=port, audit_log=audit)
            )
        except OSError as error:
            problem = error
    why = {errno.EADDRINUSE: "another program has it", errno.EACCES: "only root may have it"}.get(problem.errno or 0)
    raise InstanceError(
        f"the cluster can't listen on port {port}: {why or problem.strerror}. "
        "Choose another with --port, or leave it out to get one that is free."
    )


def _memory_volumes(instance: Instance, stack: AsyncExitStack) -> Path:
    """Where the volumes of a cluster are that forgets everything when it stops: nobody would know what they are."""
    remove = partial(shutil.rmtree, instance.memory_volumes, ignore_errors=True)
    remove()  # in case it was killed
    stack.callback(remove)
    return instance.memory_volumes


async def _begin_controllers(
    server: "APIServer", pki: "PKI", volumes: Path, pods: "Pods", stack: AsyncExitStack
) -> None:
    from windvane.cluster.controlplane import cluster_at_work

    root_ca = pki.ca_certificate.read_text()
    working = cluster_at_work(
        server.handle,
        root_ca=root_ca,
        volumes=volumes,
        pods=pods,
        api_port=pods.api_port,
        introduced=server.introduced,
    )
    await stack.enter_async_context(working)


def images_file(environ: Mapping[str, str]) -> Path:
    """What a user has said about images, for all clusters."""
    return home(environ) / "images.json"


def _remember(instance: Instance, process: Process) -> None:
    from windvane.cluster.pki import write_private

    write_private(instance.directory / "cluster.json", msgspec.json.encode(process))
