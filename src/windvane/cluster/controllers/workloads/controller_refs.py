"""Controller references: an owner keeps what it controls and selects, adopts orphans it selects, releases the rest.

Labels say what an owner may look after; the controller reference on an object says which one does. Where they disagree,
the reference is put right: so no two owners ever count the same pod.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from windvane import (
    Context,
    Index,
    Invalid,
    NotFound,
    Object,
    OwnerReference,
    Selector,
    View,
    index,
    owned_by,
    owner_reference,
    to_wire,
)
from windvane.cluster.controllers.workloads.pod_state import essence
from windvane.k8s import apps, batch, core

ObjectT = TypeVar("ObjectT", bound=Object)
OwnerT = TypeVar("OwnerT", bound=Object)

ORPHAN = ""
"""What an index by controller has those under that no object controls."""


def controller_of(thing: Object) -> OwnerReference | None:
    """The one among an object's owners that looks after it."""
    return next((each for each in thing.metadata.owner_references if each.controller), None)


def is_controlled_by(thing: Object, owner: Object) -> bool:
    """Whether `owner`, and not another one of its name, looks after the object."""
    controller = controller_of(thing)
    return controller is not None and controller.uid == owner.metadata.uid


def _uid(thing: Object) -> str:
    controller = controller_of(thing)
    return controller.uid if controller else ORPHAN


pods_by_controller: Index[core.Pod] = index(core.Pod, by=_uid)
replicas_by_controller: Index[core.Pod] = index(core.Pod, by=_uid, of=essence)
"""Of each pod just its essence, for there may be hundreds."""
replicasets_by_controller: Index[apps.ReplicaSet] = index(apps.ReplicaSet, by=_uid)
jobs_by_controller: Index[batch.Job] = index(batch.Job, by=_uid)
revisions_by_controller: Index[apps.ControllerRevision] = index(apps.ControllerRevision, by=_uid)


def claimed_by(owner: type[OwnerT], selector: Callable[[OwnerT], Selector]) -> Callable[[Object, View], Any]:
    """For `Watch(core.Pod, to=...)`: a change concerns the Pod's controller, or all that could adopt it."""
    controller = owned_by(owner)

    def concerned(thing: Object, view: View) -> str | list[OwnerT] | None:
        if controller_of(thing) is not None:
            return controller(thing)
        return [each for each in view.list(owner) if selector(each).matches(thing.metadata.labels)]

    return concerned


@dataclass
class RefChanges(Generic[ObjectT]):
    """What becomes of some objects, seen from one owner. Those that are none of its business are in no list."""

    keep: list[ObjectT] = field(default_factory=list)
    adopt: list[ObjectT] = field(default_factory=list)
    release: list[ObjectT] = field(default_factory=list)


def claim(
    owner: Object,
    selector: Selector,
    things: Iterable[ObjectT],
    *,
    where: Callable[[ObjectT], bool] = lambda _: True,
) -> RefChanges[ObjectT]:
    """Decide which of these an owner keeps, adopts and releases. One that is being deleted takes on nothing more.

    `where` says what else must hold of those that it may look after: that they have the right name, say.
    """
    claimed: RefChanges[ObjectT] = RefChanges()
    going = owner.metadata.deletion_timestamp is not None
    for thing in things:
        selected = selector.matches(thing.metadata.labels) and where(thing)
        if is_controlled_by(thing, owner):
            if selected:
                claimed.keep.append(thing)
            elif not going:
                claimed.release.append(thing)
        elif controller_of(thing) is None and selected and not going and thing.metadata.deletion_timestamp is None:
            claimed.adopt.append(thing)
    return claimed


async def settle_claims(
    owner: Object,
    selector: Selector,
    things: Sequence[ObjectT],
    ctx: Context,
    *,
    where: Callable[[ObjectT], bool] = lambda _: True,
    finalizers: Sequence[str] = (),
) -> list[ObjectT]:
    """Have the references say what `claim` decides. Returns what the owner looks after.

    These finalizers are put on what is adopted, and taken off what is released.
    """
    claimed = claim(owner, selector, things, where=where)
    putting_on: dict[str, Any] = {"finalizers": [*finalizers]} if finalizers else {}
    taking_off: dict[str, Any] = {"$deleteFromPrimitiveList/finalizers": [*finalizers]} if finalizers else {}
    for thing in claimed.release:
        with suppress(NotFound, Invalid):  # it is gone, or another one has its name, or it is an orphan already
            await _patch_owners(thing, {"$patch": "delete", "uid": owner.metadata.uid}, taking_off, ctx)
    if claimed.adopt:
        await _be_alive(owner, ctx)
    adopted = []
    for thing in claimed.adopt:
        with suppress(NotFound):
            adopted.append(await _patch_owners(thing, to_wire(owner_reference(owner)), putting_on, ctx))
    return [*claimed.keep, *adopted]


async def _patch_owners(thing: ObjectT, reference: dict[str, Any], finalizers: dict[str, Any], ctx: Context) -> ObjectT:
    # The uid makes sure that it is this one, and not another that was made under its name meanwhile.
    patch = {"metadata": {"uid": thing.metadata.uid, "ownerReferences": [reference], **finalizers}}
    return await ctx.client.patch(type(thing), thing.metadata.name, patch, type="strategic")


async def _be_alive(owner: Object, ctx: Context) -> None:
    """End the pass if the owner was deleted unknown to the cache: orphans that were left on purpose stay orphans."""
    try:
        live = await ctx.client.get(type(owner), owner.metadata.name)
    except NotFound:
        ctx.wait(f"{owner.kind} {owner.metadata.name} is gone")
    if live.metadata.uid != owner.metadata.uid or live.metadata.deletion_timestamp is not None:
        ctx.wait(f"{owner.kind} {owner.metadata.name} has just been deleted")
