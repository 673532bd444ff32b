"""Several controllers in one operator: an Orchard makes Trees, and each Tree bears its own fruit.

windvane run examples/several_kinds.py --install-crds

They share one watch per kind. Neither calls the other: the Orchard's controller states Trees, and reads their status.
"""

from typing import Annotated

from windvane import Context, Ge, ObjectMeta, Operator, Resource, Spec, Status, find_condition
from windvane.k8s import core


class TreeSpec(Spec):
    fruit: str
    """What grows on it."""


class Tree(Resource[TreeSpec, Status], group="examples.windvane.dev", version="v1"):
    """It bears fruit."""


class OrchardSpec(Spec):
    trees: Annotated[int, Ge(0)] = 1
    """How many there are."""
    fruit: str = "apple"
    """What grows here."""


class OrchardStatus(Status):
    bearing: int = 0
    """How many trees bear fruit."""


class Orchard(Resource[OrchardSpec, OrchardStatus], group="examples.windvane.dev", version="v1"):
    """Trees that belong together."""


operator = Operator("orchards")


@operator.controller(Orchard, owns=[Tree])
async def grow(orchard: Orchard, ctx: Context) -> None:
    trees = [
        await ctx.apply(
            Tree(metadata=ObjectMeta(name=f"{orchard.metadata.name}-{number}"), spec=TreeSpec(fruit=orchard.spec.fruit))
        )
        for number in range(orchard.spec.trees)
    ]
    await ctx.prune()
    orchard.status.bearing = sum(map(bears_fruit, trees))
    ctx.ready(orchard.status.bearing == len(trees), f"{orchard.status.bearing} of {len(trees)} trees bear fruit")


def bears_fruit(tree: Tree) -> bool:
    ready = find_condition(tree.status.conditions, "Ready")
    return ready is not None and ready.status == "True" and ready.observed_generation == tree.metadata.generation


@operator.controller(Tree, owns=[core.ConfigMap])
async def bear(tree: Tree, ctx: Context) -> None:
    await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name=tree.metadata.name), data={"fruit": tree.spec.fruit}))
