"""An operator at work in this process: what it needs is made ready in order, and given back when it stops.

    health and metrics port → (webhooks) → (CRDs) → caches → election → workers

The port comes first, so that probes are answered while a large cluster is read. Webhooks come before CRDs, which say
where versions are converted. The last three are the operator's own.
"""

import asyncio
import errno
import logging
import signal
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windvane.api.resource import kind_of
from windvane.cli import event_loop
from windvane.cli.webhooks import WebhookOrders, WebhookPlaceUnknown, not_reached, place
from windvane.client.client import Client
from windvane.client.config import ClientConfig
from windvane.client.errors import APIError, ClientError, Unauthorized
from windvane.client.http import HTTPTransport
from windvane.client.transport import Request
from windvane.runtime.crds import NotInstalled, install_crds
from windvane.runtime.lifespan import LifespanFailed
from windvane.runtime.manager import FINISH_WITHIN, OperatorManager
from windvane.runtime.observability.health import serve_health
from windvane.runtime.observability.journal import Journal
from windvane.runtime.operator import Operator

if TYPE_CHECKING:
    from windvane.webhook.lifecycle import Webhooks

log = logging.getLogger(__name__)


class CanNotStart(Exception):
    """The operator can't begin; the message says why, and what to do."""


class CanNotGoOn(Exception):
    """The operator has come to an end that was not asked for; the message says why, and what to do."""


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
    webhooks: WebhookOrders | None
    """None: without them."""
    history: Path | None
    """The file in which passes are kept."""


def operate(operator: Operator, orders: Orders) -> None:
    """Work until Ctrl-C or SIGTERM."""
    event_loop.run(_operate(operator, orders))


async def _operate(operator: Operator, orders: Orders) -> None:
    asked = event_loop.asked_to_stop()
    asked.add_done_callback(_say_that_it_stops)
    stop = asyncio.Event()
    config = orders.config
    async with (
        Client(HTTPTransport(config), namespace=config.namespace, field_manager=operator.name) as client,
        AsyncExitStack() as stack,
    ):
        try:
            manager = operator.run(
                client,
                namespaces=orders.namespaces,
                identity=orders.identity,
                shards=orders.shards,
                lease_namespace=orders.lease_namespace,
                stop=stop,
            )
        except ValueError as error:
            raise CanNotStart(str(error)) from error  # what it declares is not whole
        if orders.history is not None:
            _keep_history(manager, operator, orders.history, stack)
        if orders.health is not None:
            await _listen(manager, *orders.health, stack)
        webhooks = _webhooks(operator, orders, client)
        if webhooks is not None:
            manager.needs["webhooks"] = lambda: webhooks.missing
            manager.collectors.append(webhooks)
            asked.add_done_callback(lambda _: webhooks.leave())
            stack.callback(_say_what_is_left, operator, webhooks)
        if await _unless(asked, _prepare(operator, orders, client, webhooks, stack)):
            asked.add_done_callback(lambda _: stop.set())
            try:
                await (manager if webhooks is None else _while_looked_after(webhooks, manager, stop))
            except LifespanFailed as error:
                raise CanNotGoOn(str(error)) from error
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


async def _while_looked_after(webhooks: "Webhooks", manager: OperatorManager, stop: asyncio.Event) -> None:
    """Work until it is time to stop, which it is, too, when the webhooks are not looked after any more."""

    async def give_up() -> None:
        await webhooks.failed.wait()
        stop.set()

    giving_up = asyncio.get_running_loop().create_task(give_up())
    try:
        await manager
    finally:
        giving_up.cancel()
    if webhooks.failure:
        raise CanNotGoOn(f"{webhooks.failure}. That is a bug of windvane's: its log says more. Start it again")


def _keep_history(manager: OperatorManager, operator: Operator, file: Path, stack: AsyncExitStack) -> None:
    try:
        journal = Journal(file, operator.name)
    except OSError as error:
        raise CanNotStart(
            f"the history can't be written to {file}: {error.strerror or error}. Name another file with --history"
        ) from error
    manager.listeners.append(journal.write)
    stack.callback(journal.close)


async def _listen(manager: OperatorManager, host: str, port: int, stack: AsyncExitStack) -> None:
    try:
        port = await stack.enter_async_context(serve_health(manager, host=host, port=port))
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


def _webhooks(operator: Operator, orders: Orders, client: Client) -> "Webhooks | None":
    """What will serve the operator's webhooks; None if it has none, or is to do without."""
    if not operator.serves_webhooks:
        return None
    if orders.webhooks is None:
        _say_what_is_missing(operator, orders)
        return None
    # Which take a while to load, and most operators have none.
    from windvane.webhook.configurations import sparing
    from windvane.webhook.lifecycle import serve_webhooks

    namespace = orders.lease_namespace or client.namespace
    try:
        server, home = orders.config.server, client.namespace
        where = place(orders.webhooks, operator.name, server=server, namespace=namespace, home=home)
    except WebhookPlaceUnknown as error:
        raise CanNotStart(str(error)) from error
    if not orders.webhooks.in_pod and (spared := sparing(operator)):
        # In a pod it goes without saying; here it is likely to be `default`, where people try out their functions.
        log.warning(NOT_AT_HOME, ", ".join(spared), namespace)
    return serve_webhooks(
        operator,
        client,
        endpoint=where.endpoint,
        host=where.host,
        port=where.port,
        namespace=namespace,
        client_ca=orders.webhooks.client_ca,
        leave_within=where.leave_within,
        try_out=not orders.webhooks.in_pod,  # there, a Service may not lead to this replica before it is ready
        take_back=not orders.webhooks.in_pod,  # there, others go on to answer, or it is started again
    )


def _say_what_is_missing(operator: Operator, orders: Orders) -> None:
    converted = _converted(operator)
    if converted and orders.install_crds:
        raise CanNotStart(
            f"the versions of {converted} are converted by webhooks. Without these, objects would lose what another "
            "version has another name for: leave out --no-webhooks, or --install-crds"
        )
    judged = ", ".join(dict.fromkeys([*operator.defaulting, *operator.validating]))
    if judged:
        words = "working without webhooks: nothing of this operator fills in or judges %s. If it ran with them before: "
        log.warning(words + END_OF_WEBHOOKS, judged, operator.name)
    if converted:
        log.warning("working without webhooks: nothing of this operator converts the versions of %s", converted)


def _say_what_is_left(operator: Operator, webhooks: "Webhooks") -> None:
    if not webhooks.takes_back or webhooks.registrations is None:
        return  # other replicas go on, or API servers were told of nothing
    if webhooks.left_behind:
        words = "API servers can't be told to ask no more (%s): until the operator runs again, "
        log.warning(words + END_OF_WEBHOOKS, webhooks.left_behind, operator.name)
    if converted := _converted(operator):
        log.info(
            "until the operator runs again, objects of %s can't be had in versions that they aren't stored in",
            converted,
        )


def _converted(operator: Operator) -> str:
    return ", ".join(sorted(f"{name}.{group}" for group, name in operator.conversions.kinds))


async def _serve(webhooks: "Webhooks", operator: Operator, orders: WebhookOrders, stack: AsyncExitStack) -> None:
    from windvane.webhook.probe import NotReached

    try:
        await stack.enter_async_context(webhooks)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CanNotStart(
                f"another program has port {orders.port}, where webhooks should be served: another operator with "
                "webhooks, perhaps. Choose another with --webhook-port N (0: any that is free)"
            ) from error
        where = f"{orders.host} port {orders.port}" if orders.host else f"port {orders.port}"
        raise CanNotStart(
            f"webhooks can't be served at {where}: {error.strerror or error}. Choose another place with --webhook-port "
            "N (0: any that is free) and --webhook-host ADDRESS (one of this machine's, or 0.0.0.0)"
        ) from error
    except NotReached as error:
        raise CanNotStart(not_reached(orders, operator.name, error.endpoint, str(error))) from error


async def _prepare(
    operator: Operator, orders: Orders, client: Client, webhooks: "Webhooks | None", stack: AsyncExitStack
) -> None:
    """See to it that there is a server, that it is told which one, and that it has the kinds, if that is asked for."""
    config = orders.config
    classes = [what for each in operator.declarations.values() for what in each.sees.values()]
    resources = dict.fromkeys(kind_of(what).resource for what in classes)  # each once
    log.info("operator %s on %s (from %s)", operator.name, config.server, config.source)
    where = ", ".join(orders.namespaces) or "all namespaces"
    if resources:
        log.info("watching %s in %s", ", ".join(resources), where)
    if resources and not orders.identity:
        log.info("working without leader election: this must be the only replica")
    try:
        # Once, before the client's retries: a user at a terminal wants to know now, and a pod is started again.
        async with client.calls.stream(Request("GET", "/version")):
            pass
        log.info("the server is Kubernetes %s", (await client.version()).git_version)
    except Unauthorized as error:
        raise CanNotStart(f"{config.server} does not accept the credentials from {config.source}: {error}") from error
    except APIError as error:
        log.info("the server does not tell its version: %s", error)  # it answers, and that is all that counts
    except ClientError as error:
        raise CanNotStart(f"{error}\n{HOW_TO_HAVE_A_CLUSTER}") from error
    if webhooks is not None and orders.webhooks is not None:
        await _serve(webhooks, operator, orders.webhooks, stack)
    elif config.context:  # in a pod, there may be replicas of the version before, which still has webhooks
        from windvane.webhook.stale_registration import remove_stale_registrations

        await remove_stale_registrations(client, operator.name, namespace=orders.lease_namespace or client.namespace)
    if orders.install_crds:
        try:
            conversion = webhooks.conversion if webhooks is not None else {}
            await install_crds(client, operator.kinds, conversion=conversion)
        except (NotInstalled, ClientError) as error:
            raise CanNotStart(f"the CRDs are not installed: {error}") from error


NOT_AT_HOME = (
    "%s in namespace %s are not judged or filled in: the operator has some of its own there, which its webhooks must "
    "not be in the way of. To have those in another one: --lease-namespace NAME"
)

END_OF_WEBHOOKS = (
    "objects that it must be asked about are refused. To have that end: kubectl delete "
    "mutatingwebhookconfiguration,validatingwebhookconfiguration %s"
)

HOW_TO_HAVE_A_CLUSTER = """\
To have a cluster on this machine: windvane cluster start --detach && export KUBECONFIG=$(windvane cluster kubeconfig)
To use that of a windvane dev which runs: export the KUBECONFIG that it shows
To use another one: pass --kubeconfig FILE, and --context NAME if it has several"""
