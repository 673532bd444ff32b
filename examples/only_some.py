"""Only some: an operator for the Lamps of one maker, which leaves those of others to others.

windvane run examples/only_some.py --install-crds

A Lamp of another maker gets no pass, no finalizer and no status from this operator. Of its own Lamps' ConfigMaps, it
looks at the data alone: what others note in labels and annotations brings no pass.
"""

from windvane import Context, ObjectMeta, Operator, Owned, Resource, Spec, Status
from windvane.k8s import core


class LampSpec(Spec):
    maker: str
    """Who made it: the operator of that maker looks after it."""
    color: str = "white"
    """Its light."""


class Lamp(Resource[LampSpec, Status], group="examples.windvane.dev", version="v1"):
    """A lamp of some maker."""


operator = Operator("acme-lamps")


@operator.controller(
    Lamp,
    when=lambda lamp: lamp.spec.maker == "acme",
    owns=[Owned(core.ConfigMap, seeing=lambda config: config.data)],
)
async def reconcile(lamp: Lamp, ctx: Context) -> None:
    settings = ObjectMeta(name=f"{lamp.metadata.name}-settings")
    await ctx.apply(core.ConfigMap(metadata=settings, data={"color": lamp.spec.color}))
    ctx.log.info("it shines %s", lamp.spec.color)
