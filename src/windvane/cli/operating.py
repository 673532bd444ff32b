"""An operator at work in this process: what it needs is made ready in order, and given back when it stops.

    health and metrics port → (CRDs) → caches → election → workers

The port comes first, so that probes are answered while a large cluster is read. The last three are the operator's own.
"""

import asyncio
import errno
import logging
import signal
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from windvane.api.resource import kind_of
from windvane.cli import loop
from windvane.client.client import Client
from windvane.client.config import ClientConfig
from windvane.client.errors import APIError, ClientError, Unauthorized
from windvane.client.http import HTTPTransport
from windvane.client.transport import Request
from windvane.runtime.crds import NotInstalled, install_crds
from windvane.runtime.health import serve_health
from windvane.runtime.operator import FINISH_WITHIN, Operator, Running

log = logging.getLogger(__name__)


class CanNotStart(Exception):
    """The operator can't begin; the message says why, and what to do."""


@dataclass(frozen=True, kw_only=True)
class Orders:
    """How an operator is to work."""

    config: ClientConfig
    namespaces: Sequence[str]
    """Empty: all."""
    health: tuple[str, int] | None
    """Where to listen."""
    install_crds: bool
    identity: str
    """Empty: without leader election."""
    shards: int
    """0: the leader works on everything."""
    lease_namespace: str


def operate(operator: Operator, orders: Orders) -> None:
    """Work until Ctrl-C or SIGTERM."""
    loop.run(_operate(operator, orders))


async def _operate(operator: Operator, orders: Orders) -> None:
    asked = loop.asked_to_stop()
    asked.add_done_callback(_say_that_it_stops)
    stop = asyncio.Event()
    config = orders.config
    async with (
        Client(HTTPTransport(config), namespace=config.namespace, field_manager=operator.name) as client,
        AsyncExitStack() as stack,
    ):
        try:
            running = operator.run(
                client,
                namespaces=orders.namespaces,
                identity=orders.identity,
                shards=orders.shards,
                lease_namespace=orders.lease_namespace,
                stop=stop,
            )
        except ValueError as error:
            raise CanNotStart(str(error)) from error  # what it declares is not whole
        if orders.health is not None:
            await _listen(running, *orders.health, stack)
        if await _unless(asked, _prepare(operator, orders, client)):
            asked.add_done_callback(lambda _: stop.set())
            await running
    log.info("%s has stopped", operator.name)


def _say_that_it_stops(asked: asyncio.Future[signal.Signals]) -> None:
    words = "%s: stopping; passes under way have %.0f s to finish, and a second signal stops at once"
    log.info(words, asked.result().name, FINISH_WITHIN)


async def _unless(asked: asyncio.Future[signal.Signals], work: Coroutine[Any, Any, None]) -> bool:
    """Do `work` unless we are asked to stop before it is done; whether it was done."""
    working = asyncio.get_running_loop().create_task(work)
    either: list[asyncio.Future[Any]] = [working, asked]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if working.done():
        working.result()
        return True
    working.cancel()
    await asyncio.wait([working])
    return False


async def _listen(running: Running, host: str, port: int, stack: AsyncExitStack) -> None:
    try:
        port = await stack.enter_async_context(serve_health(running, host=host, port=port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CanNotStart(
                f"another program has port {port}, where health and metrics should be. Choose another with "
                "--metrics-port N (0: any that is free), or do without: --metrics-port none"
            ) from error
        raise CanNotStart(
            f"health and metrics can't be at {host} port {port}: {error.strerror or error}. Choose another place with "
            "--metrics-host and --metrics-port, or do without: --metrics-port none"
        ) from error
    where = f"[{host}]" if ":" in host else host
    log.info("health and metrics are at http://%s:%d (/healthz, /readyz, /metrics, /passes)", where, port)


async def _prepare(operator: Operator, orders: Orders, client: Client) -> None:
    """See to it that there is a server, that it is told which one, and that it has the kinds, if that is asked for."""
    config = orders.config
    classes = [what for each in operator.declarations.values() for what in each.sees.values()]
    resources = dict.fromkeys(kind_of(what).resource for what in classes)  # each once
    log.info("operator %s on %s (from %s)", operator.name, config.server, config.source)
    where = ", ".join(orders.namespaces) or "all namespaces"
    log.info("watching %s in %s", ", ".join(resources), where)
    if not orders.identity:
        log.info("working without leader election: this must be the only replica")
    try:
        # Once, before the client's patience: who waits at a terminal wants to know now, and a pod is started again.
        async with client.calls.stream(Request("GET", "/version")):
            pass
        log.info("the server is Kubernetes %s", (await client.version()).git_version)
    except Unauthorized as error:
        raise CanNotStart(f"{config.server} does not accept the credentials from {config.source}: {error}") from error
    except APIError as error:
        log.info("the server does not tell its version: %s", error)  # it answers, and that is all that counts
    except ClientError as error:
        raise CanNotStart(f"{error}\n{HOW_TO_HAVE_A_CLUSTER}") from error
    if orders.install_crds:
        try:
            await install_crds(client, classes)
        except (NotInstalled, ClientError) as error:
            raise CanNotStart(f"the CRDs are not installed: {error}") from error


HOW_TO_HAVE_A_CLUSTER = """\
To have a cluster on this machine: windvane cluster start --detach && export KUBECONFIG=$(windvane cluster kubeconfig)
To use another one: pass --kubeconfig FILE, and --context NAME if it has several"""
