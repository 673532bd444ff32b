"""A settled world sees no writes and no passes, also after a restart: for a child of every built-in kind."""

from collections.abc import Iterator
from typing import Any

import msgspec

import builtin_cases
from builtin_cases import KINDS, Json
from integration.operators.world import OPERATOR, EmbeddedWorld, Replica, World
from integration.runtime.websites import Website, Websites
from windvane import Operator
from windvane.api.resource import Object, read_object
from windvane.cluster.apiserver.catalog import builtin_kinds
from windvane.runtime.context import Context

CLASSES = {(each.__kind__.api_version, each.__kind__.name): each for each in builtin_kinds()}

NEVER_CHILDREN = {"Event", "Binding", "Eviction", "Scale"}
"""What is not applied: the recorder makes Events, and the others are never stored."""
CAPACITY = builtin_cases.make("storage.k8s.io/v1", "CSIStorageCapacity", storageClassName="fast", capacity="1024Mi")


def manifests() -> Iterator[Json]:
    """One manifest of each namespaced kind, and what is known to be stored in other words than it was stated in."""
    named = {name: each for name, each in vars(builtin_cases).items() if name.isupper() and isinstance(each, dict)}
    for each in named.values():
        if not each.keys() >= {"apiVersion", "kind", "metadata"} or each["kind"] in NEVER_CHILDREN:
            continue
        if KINDS[each["apiVersion"], each["kind"]].namespaced:
            yield each
    yield CAPACITY
    resources = {"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": {"cpu": "2.0"}}
    yield builtin_cases.but(builtin_cases.DEPLOYMENT, {"spec.template.spec.containers.0.resources": resources})
    yield builtin_cases.but(builtin_cases.SECRET, {"stringData": {"b": "2"}})


def children() -> list[Object]:
    """Each with a name of its own."""
    made = []
    for number, manifest in enumerate(manifests()):
        wire: dict[str, Any] = builtin_cases.but(manifest, {"metadata.name": f"child-{number}"})
        wire["metadata"].pop("namespace", None)
        made.append(read_object(msgspec.json.encode(wire), CLASSES[wire["apiVersion"], wire["kind"]]))
    return made


class Bundles(Websites):
    """Each Website has one child of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.operator = Operator(OPERATOR)
        owns = list(dict.fromkeys(type(each) for each in children()))
        self.operator.controller(Website, owns=owns)(self._bundle)

    async def _bundle(self, site: Website, ctx: Context) -> None:
        self.passes[site.metadata.name] += 1
        for child in children():
            child.metadata.labels["page"] = site.spec.page
            await ctx.apply(child)
        await ctx.prune()
        site.status.page = site.spec.page


async def quiet(world: World, replica: Replica) -> None:
    """Wait until the replica has seen all that is there, and has nothing to do; in virtual time, for an hour more."""
    await world.until(lambda: has_seen_all(world, replica))
    if isinstance(world, EmbeddedWorld):
        await world.time.sleep(3600)


async def has_seen_all(world: World, replica: Replica) -> bool:
    for informer in replica.running.informers.values():
        for each in await world.admin.list(informer.what, namespace=world.namespace):
            item = informer.cache.get((each.metadata.namespace, each.metadata.name))
            if item is None or item.meta.resource_version != each.metadata.resource_version:
                return False
    [controller] = replica.running.controllers
    return len(controller.queue) == 0 and controller.queue.working == 0


def test_every_namespaced_kind_that_can_be_written_is_among_them() -> None:
    known = {each.name for each in KINDS.values() if each.namespaced}
    assert known - {each.kind for each in children()} == NEVER_CHILDREN


async def test_a_child_of_any_kind_is_written_until_it_is_so_and_never_again(world: World) -> None:
    first = await Replica(world, Bundles()).synced()
    await world.create()

    async def told(times: int) -> bool:
        return sum(each.subresource == "status" for each in world.operator_writes()) == times

    await world.until(lambda: told(1))
    await world.edit(page="news")
    await world.until(lambda: told(2))
    await quiet(world, first)
    before, passes = world.operator_writes(), first.passes
    await quiet(world, first)
    assert world.operator_writes() == before
    assert first.passes == passes
    first.stop.set()
    await first.task
    second = await Replica(world, Bundles()).synced()

    async def looked() -> bool:
        return second.passes > 0

    await world.until(looked)
    await quiet(world, second)
    assert world.operator_writes() == before, "a restart writes nothing"
    assert second.passes == 1, "and what was there is looked at once"
