"""The scale subresource: `kubectl scale flock/birds --replicas=3`, and autoscalers, work on a kind of your own.

windvane run examples/scale_it.py --install-crds

`kubectl scale` needs to know which field says how many there should be; an autoscaler also needs the selector of the
pods that it measures, which the status has.
"""

from typing import Annotated

from windvane import Context, Ge, ObjectMeta, Operator, Quantity, Resource, ScaleSubresource, Spec, Status
from windvane.k8s import core


class FlockSpec(Spec):
    birds: Annotated[int, Ge(0)] = 1
    """How many there are."""


class FlockStatus(Status):
    birds: int = 0
    """How many have come."""
    selector: str = ""
    """Which pods are its birds."""


class Flock(
    Resource[FlockSpec, FlockStatus],
    group="examples.windvane.dev",
    version="v1",
    scale=ScaleSubresource(replicas=".spec.birds", current=".status.birds", selector=".status.selector"),
):
    """Birds of a feather."""


operator = Operator("flocks")


@operator.controller(Flock, owns=[core.Pod])
async def reconcile(flock: Flock, ctx: Context) -> None:
    birds = [await ctx.apply(bird(flock, number)) for number in range(flock.spec.birds)]
    await ctx.prune()  # when there are fewer
    flock.status.birds = len(birds)
    flock.status.selector = f"flock={flock.metadata.name}"


def bird(flock: Flock, number: int) -> core.Pod:
    requests = core.ResourceRequirements(requests={"cpu": Quantity("100m")})
    return core.Pod(
        metadata=ObjectMeta(name=f"{flock.metadata.name}-{number}", labels={"flock": flock.metadata.name}),
        spec=core.PodSpec(containers=[core.Container(name="bird", image="bird", resources=requests)]),
    )
