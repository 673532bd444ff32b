"""The end of a namespace: everything in it is deleted, of whatever kind, pods before all else, and then it may go."""

from contextlib import suppress

from windvane import (
    After,
    Client,
    ClientError,
    Conflict,
    Context,
    Kind,
    Metadata,
    NotFound,
    Operator,
    ambient,
    dynamic,
    kind_of,
    only_metadata,
    to_wire,
)
from windvane.cluster.controllers.namespace.content import NamespaceContent, conditions, grace_of
from windvane.k8s.core import Namespace, Pod

FINALIZER = "kubernetes"
SOONEST = 1.0


class Undeletable(Exception):
    """Something in the namespace could not be deleted; the message says what."""


def add_to(operator: Operator) -> None:
    """Have namespaces that are being deleted emptied, and let go."""

    @operator.controller(Namespace, until_gone=True, name="namespace-controller")
    async def empty(namespace: Namespace, ctx: Context) -> After | None:
        ends = namespace.metadata.deletion_timestamp
        if ends is None or FINALIZER not in namespace.spec.finalizers:
            return None
        waited = (ambient.now() - ends).total_seconds()
        content = await delete_content(ctx.client, namespace.metadata.name, waited)
        try:
            namespace = await _tell(ctx.client, namespace, content)
            if not (content.remaining or content.failures or content.undiscovered):
                namespace.spec.finalizers = [each for each in namespace.spec.finalizers if each != FINALIZER]
                await ctx.client.replace(namespace, subresource="finalize")
        except NotFound:
            return None
        if content.failures or content.undiscovered:
            raise Undeletable(content.undiscovered or "; ".join(content.failures))
        return After(seconds=next_look(content.seconds, waited)) if content.remaining else None


def next_look(estimate: int, waited: float) -> float:
    """In how many seconds to look again: soon at first, then less often, but no later than the estimate says."""
    return min(estimate / 2 + 1, max(SOONEST, waited / 2))


async def delete_content(client: Client, namespace: str, waited: float) -> NamespaceContent:
    """Tell everything in the namespace to go, pods first; what remains of it."""
    content = NamespaceContent()
    try:
        kinds = await _kinds(client)
    except ClientError as error:
        content.undiscovered = str(error)
        return content
    pods = kind_of(Pod)
    await _delete(client, pods, namespace, content, grace_of(await client.list(Pod, namespace=namespace), waited))
    if not content.remaining:  # pods may need what else is there until they have ended
        for kind in kinds:
            if kind.resource != pods.resource:
                await _delete(client, kind, namespace, content, grace=0)
    return content


async def _kinds(client: Client) -> list[Kind]:
    """All kinds whose objects are in namespaces and can be deleted, each in the version that the server prefers."""
    preferred: dict[str, Kind] = {}
    for kind in await client.discover(verbs=["delete", "list"]):
        if kind.namespaced:
            preferred.setdefault(kind.resource, kind)
    return [*preferred.values()]


async def _delete(client: Client, kind: Kind, namespace: str, content: NamespaceContent, grace: int) -> None:
    what = only_metadata(dynamic(kind))
    try:
        there = await client.list(what, namespace=namespace)
        for each in there:
            await _delete_one(client, what, each)
        left = await client.list(what, namespace=namespace) if there else []
    except NotFound:
        return  # the kind itself is gone
    except ClientError as error:
        content.failures.append(str(error))
        return
    if left:
        content.add(kind, [each.metadata.finalizers for each in left], namespace=namespace, grace=grace)


async def _delete_one(client: Client, what: type[Metadata], thing: Metadata) -> None:
    meta = thing.metadata
    if meta.deletion_timestamp is not None:
        return
    with suppress(NotFound, Conflict):  # it is gone; or another one of that name is there, which the next look finds
        await client.delete(what, meta.name, namespace=meta.namespace, uid=meta.uid, propagation="Background")


async def _tell(client: Client, namespace: Namespace, content: NamespaceContent) -> Namespace:
    """Have the conditions say what was found; the namespace as it is then."""
    now = ambient.now().replace(microsecond=0)
    told = conditions(namespace.status.conditions, content, now)
    if told == namespace.status.conditions:
        return namespace
    version = {"resourceVersion": namespace.metadata.resource_version}
    patch = {"metadata": version, "status": {"conditions": [to_wire(each) for each in told]}}
    return await client.patch(Namespace, namespace.metadata.name, patch, subresource="status")
