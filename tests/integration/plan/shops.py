"""An operator that does most of what an operator can do, for plans of it; and what is compared with them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from windvane import (
    After,
    Client,
    Context,
    Fatal,
    LabelSelector,
    ObjectMeta,
    Operator,
    Resource,
    Spec,
    Status,
    Watch,
    object_to_wire,
)
from windvane.cli.plan.diff import ObjectChange, object_change
from windvane.cli.plan.outside_calls import Mode, Outside
from windvane.cli.plan.plan import Plan, PlanRequest
from windvane.cli.plan.planner import make_plan
from windvane.client.transport import Request, Response, Transport
from windvane.k8s import apps, core


class BranchSpec(Spec):
    town: str


class Branch(Resource[BranchSpec, Status], group="demo.windvane.dev", version="v1alpha1", plural="branches"):
    """A shop in another town."""


class ShopSpec(Spec):
    copies: int = 1
    towns: list[str] = []
    mode: str = ""
    motd: str = ""


class ShopStatus(Status):
    steps: int = 0


class Shop(Resource[ShopSpec, ShopStatus], group="demo.windvane.dev", version="v1alpha1", short_names=["sh"]):
    """A shop."""


def shop(name: str = "corner", **spec: Any) -> Shop:
    return Shop(metadata=ObjectMeta(name=name, namespace="default"), spec=ShopSpec(**spec))


class Shops:
    """Each has an operator of its own, for it is changed by its tests: `image` is what a new version of it has."""

    def __init__(self, image: str = "shop:1") -> None:
        self.operator = Operator("shops")
        self.image = image
        self.operator.controller(Shop, owns=[apps.Deployment, core.Secret, core.ConfigMap, Branch])(self.reconcile)
        self.operator.finalizer(Shop)(self.retire)
        self.operator.controller(Branch, owns=[core.ConfigMap], watches=[Watch(core.Node, to=lambda _: None)])(
            self.reconcile_branch
        )

    async def reconcile(self, one: Shop, ctx: Context) -> After | None:
        name = one.metadata.name
        match one.spec.mode:
            case "raise":
                raise LookupError("no such supplier")
            case "fatal":
                raise Fatal("a shop can't sell that")
            case "wait":
                ctx.wait("the permit is due", after=60)
            case "steps" if one.status.steps < 3:
                one.status.steps += 1
                return After(seconds=0)
            case "restless":
                one.status.steps += 1
                return After(seconds=0)
            case "later":
                return After(hours=2)
        await ctx.make_once(core.Secret, f"{name}-key", lambda: core.Secret(string_data={"key": "open sesame"}))
        await ctx.apply(self.deployment(one))
        if one.spec.motd:
            await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name=name), data={"motd": one.spec.motd}))
        for town in one.spec.towns:
            await ctx.apply(Branch(metadata=ObjectMeta(name=f"{name}-{town}"), spec=BranchSpec(town=town)))
        await ctx.prune()
        ctx.event("Opened", f"with {one.spec.copies} copies")
        return None

    def deployment(self, one: Shop) -> apps.Deployment:
        labels = {"shop": one.metadata.name}
        container = core.Container(name="till", image=self.image)
        template = core.PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=core.PodSpec(containers=[container]))
        spec = apps.DeploymentSpec(
            replicas=one.spec.copies, selector=LabelSelector(match_labels=labels), template=template
        )
        return apps.Deployment(metadata=ObjectMeta(name=one.metadata.name), spec=spec)

    async def reconcile_branch(self, one: Branch, ctx: Context) -> None:
        await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name=one.metadata.name), data={"town": one.spec.town}))

    async def retire(self, one: Shop, ctx: Context) -> None:
        await ctx.delete(self.deployment(one))


class Reading:
    """A transport that knows what was asked of it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.asked: list[Request] = []

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        self.asked.append(request)
        async with self._transport.open(request) as response:
            yield response

    def websocket(self, request: Request, protocols: Sequence[str]) -> Any:
        raise AssertionError(f"{request} was sent")

    async def close(self) -> None:
        raise AssertionError("this transport is others', too")


async def planned(
    operator: Operator, client: Client, *, outside: Mode = "refuse", **wanted: Any
) -> tuple[Plan, list[Request]]:
    """A plan of a cluster, and what was asked of that."""
    transport = Reading(client.calls.transport)
    return await make_plan(operator, transport, PlanRequest(**wanted), Outside(outside)), transport.asked


NONE = (None, None)
KINDS = (Shop, Branch, apps.Deployment, core.Secret, core.ConfigMap)


async def state(client: Client) -> dict[tuple[str, str], Any]:
    """All objects of the kinds that the operator has to do with."""
    return {
        (what.__name__, each.metadata.name): (type(each).__kind__, object_to_wire(each))
        for what in KINDS
        for each in await client.list(what)
    }


def changes(before: dict[Any, Any], after: dict[Any, Any]) -> list[ObjectChange]:
    """What has really changed."""
    found = []
    for place in {**before, **after}:
        kind, _ = after.get(place) or before[place]
        found.append(object_change(kind, before.get(place, NONE)[1], after.get(place, NONE)[1]))
    return [each for each in found if each is not None]


def told(of: list[ObjectChange], manager: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """What one field manager changes, of each object each field: what it is called, and what it is then."""
    return {
        (each.action, each.kind.name, each.name): {
            field.path: field.new
            for field in each.fields
            if manager in (*field.then, *field.owners) and not field.path.endswith((".uid", ".lastTransitionTime"))
        }
        for each in of
    }
