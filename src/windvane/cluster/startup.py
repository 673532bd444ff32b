"""Runs a cluster in this process: opens what it has on disk, serves its API, and sets its controllers to work."""

import asyncio
import errno
import os
import shutil
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from ipaddress import IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, Handler, User
from windvane.cluster.apiserver.audit import AuditLog
from windvane.cluster.apiserver.authentication.jwt import SigningKey
from windvane.cluster.apiserver.http.https_server import HTTPSServer, serve
from windvane.cluster.apiserver.server import APIServer, open_server
from windvane.cluster.apiserver.storage.sqlite_log import UnusableFile, WriteFailed
from windvane.cluster.instance import Instance, InstanceError, Process, claimed, images_file, prepare, remember
from windvane.cluster.node.network.addresses import claim_for_services
from windvane.cluster.pki import ADMIN, ADMIN_GROUP, NAMES, PKI, PKIError, open_pki, write_private

if TYPE_CHECKING:
    from windvane.cluster.controlplane import Pods
    from windvane.runtime.observability.journal import Journal


async def run(
    instance: Instance,
    *,
    port: int | None,
    memory: bool,
    controllers: bool,
    pods: str = "auto",
    nodes: int = 1,
    host_paths: bool = False,
    audit_log: Path | None = None,
    admission_plugins: Collection[str] = (),
    started: Callable[[Process], None],
    until: Awaitable[object],
) -> None:
    """Run the cluster in this process until `until` is done. `started` is called when it can be used.

    Without a `port` it takes the one that it had last, if that is free: a kubeconfig that was copied stays good.
    Without `controllers` it is an API server alone; with them it has nodes, whose pods are processes, simulated, or
    either as their images allow (`pods`), and see directories of this machine only with `host_paths`. All requests are
    recorded in `audit_log`, if there is one. `admission_plugins` are on beyond the usual ones.
    """
    prepare(instance)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(claimed(instance))
        before = instance.last_process()
        last_port = before.port if before else 0
        services = before.services if before else ""
        network = _claim_network(instance, services, stack) if controllers else None
        if network is not None and not memory:
            services = network
        remember(instance, Process(os.getpid(), last_port, memory, services))
        try:
            names = NAMES if network is None else (*NAMES, str(IPv4Network(network)[1]))
            pki = open_pki(instance.directory / "pki", names=names)
        except PKIError as error:
            raise InstanceError(str(error)) from error
        audit = None if audit_log is None else _open_audit_log(audit_log)
        try:
            server = open_server(
                None if memory else instance.store,
                tokens={pki.admin_token: User(ADMIN, (ADMIN_GROUP,))},
                key=SigningKey(pki.service_account_key.read_bytes),
                require_accounts=controllers,
                audit_log=audit,
                service_network=network,
                admission_plugins=admission_plugins,
                migrations=controllers,
            )
        except UnusableFile as error:
            raise InstanceError(str(error)) from error
        stack.push_async_callback(server.close)
        try:
            await server.start()
        except WriteFailed as error:  # a full disk, say
            raise InstanceError(str(error)) from error
        # Before it can be used: an operator that finds no history here keeps none.
        journal = _open_history(instance.history, stack) if controllers else None
        door = _Door(server.handle)
        serving = await _listen(door, server, pki, [last_port, 0] if port is None else [port], audit, stack)
        process = Process(os.getpid(), serving.port, memory, services)
        write_private(instance.kubeconfig, pki.kubeconfig(serving.url, name=instance.context).encode())
        remember(instance, process)
        started(process)
        if journal is not None:
            # In another thread: the API answers already, and must not stand still while we load what comes after it.
            await asyncio.to_thread(import_module, "windvane.cluster.controlplane")
            from windvane.cluster.controlplane import Pods

            place, images = instance.directory / "node", images_file(os.environ)
            how = Pods(pods, nodes, place, images, host_paths, serving.port)
            volumes = _memory_volumes(instance, stack) if memory else instance.volumes
            await _begin_controllers(door, server, pki, volumes, how, journal, stack)
        await until


def _claim_network(instance: Instance, had: str, stack: AsyncExitStack) -> str:
    """Where the cluster has the addresses of its Services while it runs, and no other on this machine has any."""
    try:
        claim = claim_for_services(str(instance.directory), had)
    except RuntimeError as error:
        raise InstanceError(f"there is no room for the Services of the cluster {instance.name!r}: {error}.") from None
    stack.callback(claim.close)
    return claim.network


def _open_audit_log(file: Path) -> AuditLog:
    try:
        return AuditLog(file)
    except OSError as error:
        raise InstanceError(f"the audit log can't be written to {file}: {error.strerror}. Name another file.") from None


class _Door:
    """Where requests come in. What is to be done with them can change while it is open."""

    def __init__(self, handle: Handler) -> None:
        self.handle = handle

    async def enter(self, request: Request, user: User) -> Answer:
        """See `answer.Handler`."""
        return await self.handle(request, user)


async def _listen(
    door: _Door, server: APIServer, pki: PKI, ports: list[int], audit: AuditLog | None, stack: AsyncExitStack
) -> HTTPSServer:
    for port in ports:
        try:
            return await stack.enter_async_context(
                serve(door.enter, pki=pki, tokens=server.tokens, port=port, audit_log=audit)
            )
        except OSError as error:
            problem = error
    why = {errno.EADDRINUSE: "another program has it", errno.EACCES: "only root may have it"}.get(problem.errno or 0)
    raise InstanceError(
        f"the cluster can't listen on port {port}: {why or problem.strerror}. "
        "Choose another with --port, or leave it out to get one that is free."
    )


def _open_history(file: Path, stack: AsyncExitStack) -> "Journal":
    from windvane.runtime.observability.journal import Journal

    try:
        journal = Journal(file, "cluster")
    except OSError as error:
        raise InstanceError(f"the history can't be written to {file}: {error.strerror or error}.") from None
    stack.callback(journal.close)
    return journal


def _memory_volumes(instance: Instance, stack: AsyncExitStack) -> Path:
    """Where the volumes are of a cluster in memory: it forgets what they are when it stops, so they are removed."""
    remove = partial(shutil.rmtree, instance.memory_volumes, ignore_errors=True)
    remove()  # in case it was killed
    stack.callback(remove)
    return instance.memory_volumes


async def _begin_controllers(
    door: _Door, server: APIServer, pki: PKI, volumes: Path, pods: "Pods", journal: "Journal", stack: AsyncExitStack
) -> None:
    from windvane.cluster.controlplane import cluster_at_work
    from windvane.cluster.deletions import record_deletions

    door.handle = record_deletions(server.handle, journal)
    root_ca = pki.ca_certificate.read_text()
    working = cluster_at_work(
        server.handle,
        root_ca=root_ca,
        authority=pki.authority,
        migrations=True,
        volumes=volumes,
        pods=pods,
        api_port=pods.api_port,
        introduced=server.introduced,
        ended=lambda part, done: journal.write(done, operator=part),
    )
    await stack.enter_async_context(working)
