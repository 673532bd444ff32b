"""The components of a control plane beside its API server: controllers, scheduler, garbage collector and quotas.

Each is an operator, or made of what operators are made of, and knows nothing of how it is run. What they do is told
here as passes, for the history of the cluster.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.meta import OwnerReference
from windvane.client.client import Client
from windvane.cluster.controllers import manager
from windvane.cluster.controllers.garbage_collector import controller as garbage_collector
from windvane.cluster.controllers.garbage_collector.controller import Collected, GarbageCollector
from windvane.cluster.controllers.resource_quota import controller as resource_quota
from windvane.cluster.controllers.resource_quota.controller import QuotaController
from windvane.cluster.controllers.scheduler import controller as scheduler
from windvane.cluster.controllers.scheduler.controller import Scheduler
from windvane.runtime.observability.history import Pass, Trigger, Write

if TYPE_CHECKING:
    from windvane.certificates import Authority

PassEnded = Callable[[str, Pass], None]


def components(
    client: Client,
    *,
    root_ca: str,
    authority: "Callable[[], Authority] | None" = None,
    migrations: bool = False,
    volumes: Path | None = None,
    api_port: int = 0,
    ended: PassEnded | None = None,
) -> Mapping[str, Callable[[], Awaitable[None]]]:
    """What is to be run, each component until it is cancelled. One can fail, and be run again, without the others.

    `ended` is called with each pass of a controller that has ended, and the name of its component.
    """

    def listeners(component: str) -> list[Callable[[Pass], None]]:
        return [partial(ended, component)] if ended is not None else []

    async def run_controllers() -> None:
        operator = manager.controllers(
            root_ca=root_ca, authority=authority, migrations=migrations, volumes=volumes, api_port=api_port
        )
        running = operator.run(client)
        running.listeners += listeners(manager.NAME)
        await running

    async def run_scheduler() -> None:
        of_pods = Scheduler(client)
        of_pods.running.listeners += listeners(scheduler.NAME)
        await of_pods.run()

    async def run_garbage_collector() -> None:
        # A manager of its own: managedFields say that it was the garbage collector that removed an owner.
        collector = GarbageCollector(Client(client.calls.transport, field_manager=garbage_collector.NAME))
        collector.listeners += [partial(_tell_as_pass, tell) for tell in listeners(garbage_collector.NAME)]
        await collector.run()

    async def run_quotas() -> None:
        await QuotaController(client).run()

    return {
        manager.NAME: run_controllers,
        scheduler.NAME: run_scheduler,
        garbage_collector.NAME: run_garbage_collector,
        resource_quota.NAME: run_quotas,
    }


def _tell_as_pass(tell: Callable[[Pass], None], collected: Collected) -> None:
    """Tell what the garbage collector deleted as a pass over it, brought on by the owners that are gone."""
    kind, meta = collected.kind, collected.metadata
    write = Write(
        f"delete {kind.resource} {meta.name}", resource=kind.resource, namespace=meta.namespace, name=meta.name
    )
    tell(
        Pass(
            id=ambient.token(8),
            controller=garbage_collector.NAME,
            kind=kind.name,
            resource=kind.resource,
            namespace=meta.namespace,
            name=meta.name,
            began=ambient.now(),
            triggers=[_gone(owner, its, meta.namespace) for owner, its in collected.owners],
            writes=[write],
            result="done",
        )
    )


def _gone(owner: OwnerReference, kind: Kind | None, namespace: str) -> Trigger:
    words = f"its owner {owner.kind} {owner.name} is gone"
    if kind is None:
        return Trigger(words, namespace=namespace, name=owner.name)
    return Trigger(words, kind.resource, namespace if kind.namespaced else "", owner.name)
