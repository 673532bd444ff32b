"""A settled world sees no writes and no passes, also after a restart: for a child of every built-in kind."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import pytest

import builtin_cases
import resource_cases
from builtin_cases import KINDS, STRATEGIES, Json, but, make
from integration.operators.world import OPERATOR, EmbeddedWorld, Replica, World
from integration.runtime.websites import Website, Websites, WebsiteSpec, WebsiteStatus
from windvane import AlreadyExists, Context, NotFound, Object, ObjectMeta, Operator, Resource, crd, kind_of
from windvane.api.resource import read_object
from windvane.cluster.apiserver.schema.models import builtin_models

CLASSES = {(each.__kind__.api_version, each.__kind__.name): each for each in builtin_models()}

NEVER_CHILDREN = {
    "Event": "the recorder makes them",
    "ComponentStatus": "can't be written",
    "IPAddress": "the API server's own",
    "ServiceCIDR": "the API server's own",
    "CertificateSigningRequest": "asks for something, and can't be changed",
    "APIService": "discovery would wait for a server that is not there",
    "StorageVersionMigration": "not served unless asked for",
    "MutatingAdmissionPolicy": "not served unless asked for",
    "MutatingAdmissionPolicyBinding": "not served unless asked for",
}
"""The kinds that are not applied as children here, and why."""

NOWHERE = {"apiGroups": ["settled.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["none"]}
ATTACHED = {"attacher": "a.com", "nodeName": "web", "source": {"persistentVolumeName": "web"}}
EXTRA = [
    make("storage.k8s.io/v1", "CSIStorageCapacity", storageClassName="fast", capacity="1024Mi"),
    make("storage.k8s.io/v1", "CSINode", {"drivers": [{"name": "a.com", "nodeID": "1", "topologyKeys": ["zone"]}]}),
    make("storage.k8s.io/v1", "VolumeAttachment", ATTACHED),
    make("storage.k8s.io/v1", "VolumeAttributesClass", driverName="a.com", parameters={"iops": "100"}),
    but(
        builtin_cases.DEPLOYMENT,
        {"spec.template.spec.containers.0.resources": {"requests": {"cpu": "1000m"}, "limits": {"cpu": "2.0"}}},
    ),
    but(builtin_cases.SECRET, {"stringData": {"b": "2"}}),
]
"""What has no manifest among those, and what is stored in other words than it is stated in."""


class Estate(Resource[WebsiteSpec, WebsiteStatus], group="settled.windvane.dev", version="v1", scope="Cluster"):
    """The owner of what has no namespace."""


def manifests() -> Iterator[Json]:
    """Of each kind one at least. Those that would have a say in what others do have none."""
    constants = [*vars(builtin_cases).items(), *vars(resource_cases).items()]
    named = [each for name, each in constants if name.isupper() and isinstance(each, dict)]
    for each in [*named, *EXTRA]:
        if not each.keys() >= {"apiVersion", "kind", "metadata"} or each["kind"] in NEVER_CHILDREN:
            continue
        if "webhooks" in each:
            yield but(each, {"webhooks.0.rules": [NOWHERE]})
        elif each["kind"] == "ValidatingAdmissionPolicy":
            yield but(each, {"spec.matchConstraints.resourceRules": [NOWHERE]})
        else:
            yield each


def children(owner: type[Object], prefix: str) -> list[Object]:
    """What an owner with or without a namespace can own; each with a name of its own, if it may have any."""
    made = []
    for number, manifest in enumerate(manifests()):
        if KINDS[manifest["apiVersion"], manifest["kind"]].namespaced != kind_of(owner).namespaced:
            continue
        named = "." in manifest["metadata"]["name"]
        wire: dict[str, Any] = but(manifest, {} if named else {"metadata.name": f"{prefix}-{number}"})
        wire["metadata"].pop("namespace", None)
        made.append(read_object(msgspec.json.encode(wire), CLASSES[wire["apiVersion"], wire["kind"]]))
    return made


class Bundles(Websites):
    """Each owner has one child of every kind."""

    def __init__(self, owner: type[Object], prefix: str) -> None:
        super().__init__()
        self.operator = Operator(OPERATOR)
        self._owner, self._prefix = owner, prefix
        self.kinds = list(dict.fromkeys(type(each) for each in children(owner, prefix)))
        self.operator.controller(owner, owns=self.kinds)(self._bundle)

    async def _bundle(self, owner: Any, ctx: Context) -> None:
        self.passes[owner.metadata.name] += 1
        for child in children(self._owner, self._prefix):
            child.metadata.labels["page"] = owner.spec.page
            await ctx.apply(child)
        await ctx.prune()
        owner.status.page = owner.spec.page


async def quiet(world: World, replica: Replica) -> None:
    """Wait until the replica has seen all that is there, and has nothing to do; in virtual time, for an hour more."""
    await world.until(lambda: has_seen_all(world, replica))
    if isinstance(world, EmbeddedWorld):
        await world.time.sleep(3600)


async def has_seen_all(world: World, replica: Replica) -> bool:
    for informer in replica.running.informers.values():
        namespace = world.namespace if informer.kind.namespaced else ""
        for each in await world.admin.list(informer.what, namespace=namespace):
            item = informer.cache.get((each.metadata.namespace, each.metadata.name))
            if item is None or item.meta.resource_version != each.metadata.resource_version:
                return False
    [controller] = replica.running.controllers
    return len(controller.queue) == 0 and controller.queue.working == 0


def writes(replica: Replica) -> list[str]:
    return [str(each) for each in replica.weather.asked if each.method != "GET"]


async def serve_estates(world: World) -> None:
    with suppress(AlreadyExists):
        await world.admin.create(crd(Estate))

    async def served() -> bool:
        try:
            await world.admin.list(Estate)
        except NotFound:
            return False
        return True

    await world.until(served)


async def remove(world: World, kinds: Sequence[type[Object]]) -> None:
    """Leave nothing behind that has no namespace: there is no garbage collector here."""
    for what in kinds:
        for each in await world.admin.list(what):
            if "page" in each.metadata.labels:
                await world.admin.delete(what, each.metadata.name)


def test_every_kind_is_among_them() -> None:
    known = {each.kind.name for each in STRATEGIES.values() if each.has_path and "list" in each.verbs}
    among = {each.kind for owner in (Website, Estate) for each in children(owner, "a")}
    assert known - among == NEVER_CHILDREN.keys()


@pytest.mark.parametrize("owner", [Website, Estate])
async def test_a_child_of_any_kind_is_written_until_it_is_so_and_never_again(
    world: World, owner: type[Website] | type[Estate]
) -> None:
    name = f"blog-{world.namespace}"
    # A real server says in its own time how it takes a CRD or a FlowSchema, and each of these changes brings a pass.
    told_of_later = owner is Estate and not isinstance(world, EmbeddedWorld)
    await serve_estates(world)
    first = await Replica(world, Bundles(owner, name)).synced()
    meta = ObjectMeta(name=name, namespace=world.namespace if owner is Website else "")
    await world.admin.create(owner(metadata=meta, spec=WebsiteSpec(page="hello")))

    async def shows(page: str) -> bool:
        return (await world.admin.get(owner, name)).status.page == page

    await world.until(lambda: shows("hello"))
    await world.admin.patch(owner, name, {"spec": {"page": "news"}})
    await world.until(lambda: shows("news"))
    await quiet(world, first)
    before, passes = writes(first), first.passes
    await quiet(world, first)
    assert writes(first) == before
    if not told_of_later:
        assert first.passes == passes
    first.stop.set()
    await first.task
    bundles = Bundles(owner, name)
    second = await Replica(world, bundles).synced()

    async def looked() -> bool:
        return second.passes > 0

    await world.until(looked)
    await quiet(world, second)
    assert writes(second) == [], "a restart writes nothing"
    if not told_of_later:
        assert second.passes == 1, "and what was there is looked at once"
    if owner is Estate:
        await remove(world, [*bundles.kinds])
        await world.admin.delete(Estate, name)
