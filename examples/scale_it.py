"""The scale subresource: `kubectl scale flock/birds --replicas=3`, and autoscalers, work on a kind of your own.

windvane run examples/scale_it.py --install-crds
"""

from typing import Annotated

from windvane import Context, Ge, ObjectMeta, Operator, Resource, Scale, Spec, Status
from windvane.k8s import core


class FlockSpec(Spec):
    birds: Annotated[int, Ge(0)] = 1
    """How many there are."""


class FlockStatus(Status):
    birds: int = 0
    """How many have come."""


class Flock(
    Resource[FlockSpec, FlockStatus],
    group="examples.windvane.dev",
    version="v1",
    scale=Scale(replicas=".spec.birds", current=".status.birds"),
):
    """Birds of a feather."""


operator = Operator("flocks")


@operator.controller(Flock, owns=[core.ConfigMap])
async def reconcile(flock: Flock, ctx: Context) -> None:
    for number in range(flock.spec.birds):
        await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name=f"{flock.metadata.name}-{number}")))
    flock.status.birds = flock.spec.birds
