"""The StorageClass `standard`, which claims get that name no class: there from the start, until it is deleted.

That it was made once is noted on the namespace kube-system: once deleted, it does not come back.
"""

from contextlib import suppress

from windvane import AlreadyExists, Context, ObjectMeta, Operator
from windvane.cluster.controllers.volume.match import IS_DEFAULT
from windvane.cluster.controllers.volume.provisioner import PROVISIONER
from windvane.k8s.core import Namespace
from windvane.k8s.storage import StorageClass

NAME = "standard"
HOME = "kube-system"
MADE = "windvane.dev/default-storage-class"


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    @operator.controller(Namespace, name="default-storage-class")
    async def make_class(namespace: Namespace, ctx: Context) -> None:
        if namespace.metadata.name != HOME or MADE in namespace.metadata.annotations:
            return
        with suppress(AlreadyExists):
            await ctx.client.create(storage_class())
        await ctx.client.patch(Namespace, HOME, {"metadata": {"annotations": {MADE: NAME}}})


def storage_class() -> StorageClass:
    """The class as it is made. A claim has its volume at once: a directory is as near to one node as to another."""
    return StorageClass(
        metadata=ObjectMeta(name=NAME, annotations={IS_DEFAULT: "true"}),
        provisioner=PROVISIONER,
        reclaim_policy="Delete",
        volume_binding_mode="Immediate",
        allow_volume_expansion=True,
    )
