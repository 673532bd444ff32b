"""What the garbage collector of a cluster does after a deletion, as far as the objects are in a plan's view.

Children go when none of their owners is left, before their owner if that is deleted with `Foreground`, and stay as
without an owner if it is deleted with `Orphan`. The view has the kinds that the operator declares: what its children
own in turn, such as a Deployment's pods, is for the cluster to delete.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from windvane.api.kind import Kind
from windvane.api.resource import dynamic
from windvane.client.client import Client

Wire = dict[str, Any]

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
"""The finalizers by which a deletion says what becomes of the children."""


async def collect(
    there: Sequence[tuple[Kind, Wire]], gone: Collection[str], client: Client, *, apart: Collection[str] = ()
) -> bool:
    """Delete or let go what is due, of what is there, when the objects with these uids are gone. Whether any was.

    What becomes of the children of those that are `apart`, by their uids, is left to the cluster.
    """
    leaving = {
        wire["metadata"]["uid"]: finalizer
        for _, wire in there
        if "deletionTimestamp" in wire["metadata"] and wire["metadata"]["uid"] not in apart
        for finalizer in wire["metadata"].get("finalizers") or ()
        if finalizer in (FOREGROUND, ORPHAN)
    }
    acted = False
    owners: set[str] = set()  # of those that stay for now
    for kind, wire in there:
        done = await _see_to(kind, wire, gone, leaving, client)
        acted = acted or bool(done)
        if not done:
            owners |= {each["uid"] for each in wire["metadata"].get("ownerReferences") or ()}
    for kind, wire in there:
        uid = wire["metadata"].get("uid", "")
        if uid in leaving and uid not in owners:
            left = [each for each in wire["metadata"]["finalizers"] if each != leaving[uid]]
            await _patch(kind, wire, {"finalizers": left or None}, client)
            acted = True
    return acted


async def _see_to(kind: Kind, wire: Wire, gone: Collection[str], leaving: Mapping[str, str], client: Client) -> str:
    """Do what is due about one object; what that was."""
    metadata = wire["metadata"]
    refs = metadata.get("ownerReferences") or []
    orphaned = [each for each in refs if leaving.get(each["uid"]) == ORPHAN]
    dead = [each for each in refs if each["uid"] in gone or leaving.get(each["uid"]) == FOREGROUND]
    left = [each for each in refs if each not in dead and each not in orphaned]
    if not dead and not orphaned:
        return ""
    if left or orphaned:  # another owner keeps it, or none does
        await _patch(kind, wire, {"ownerReferences": left or None}, client)
        return "let go"
    if "deletionTimestamp" in metadata:
        return ""
    where = metadata.get("namespace", "")
    await client.delete(dynamic(kind), metadata["name"], namespace=where, uid=metadata["uid"], propagation="Background")
    return "gone"


async def _patch(kind: Kind, wire: Wire, metadata: Wire, client: Client) -> None:
    mine = wire["metadata"]
    change = {"metadata": metadata}
    await client.patch(dynamic(kind), mine["name"], change, namespace=mine.get("namespace", ""))
