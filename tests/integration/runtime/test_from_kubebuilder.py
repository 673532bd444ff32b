"""What `docs/from-kubebuilder.md` says: each idiom of kubebuilder, as it is written here. Each row names its test."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import pytest

from integration.runtime.test_controller import ready_of, settled
from integration.runtime.test_when import run
from integration.runtime.websites import Website, config_map, website
from integration.runtime.world import World
from windvane import (
    After,
    AtLeastOneOf,
    AtMostOneOf,
    Client,
    Column,
    Conflict,
    Context,
    Default,
    EmbeddedResource,
    ExactlyOneOf,
    Fatal,
    Format,
    Ge,
    Gt,
    Int32,
    IntOrString,
    Le,
    ListAtomic,
    ListMap,
    ListSet,
    Lt,
    MapAtomic,
    MaxItems,
    MaxLength,
    MaxProperties,
    MinItems,
    MinLength,
    MinProperties,
    MultipleOf,
    NotFound,
    Nullable,
    ObjectMeta,
    Operator,
    Pattern,
    PreserveUnknown,
    Quantity,
    Required,
    Resource,
    Rule,
    ScaleSubresource,
    Spec,
    Status,
    Struct,
    Watch,
    ambient,
    crd,
    find_condition,
    index,
    object_to_wire,
    owned_by,
    owner_reference,
    schema,
)
from windvane.k8s.coordination import Lease
from windvane.k8s.core import ConfigMap, Event, Namespace, Secret


@pytest.fixture
async def kind(world: World) -> None:
    await world.admin.create(crd(Website))


@pytest.fixture
def operator() -> Operator:
    return Operator("websites")


async def blog(world: World) -> Website:
    return await world.admin.get(Website, "blog")


# Markers


class Part(Struct):
    name: str


class Whole(Struct, atomic=True):
    name: str = ""


MARKERS: list[tuple[str, Any, dict[str, Any]]] = [
    ("validation:Minimum, Maximum", Annotated[int, Ge(1), Le(9)], {"minimum": 1, "maximum": 9}),
    (
        "validation:ExclusiveMinimum, ExclusiveMaximum",
        Annotated[int, Gt(1), Lt(9)],
        {"minimum": 1, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": True},
    ),
    ("validation:MultipleOf", Annotated[int, MultipleOf(5)], {"multipleOf": 5}),
    ("validation:MinLength, MaxLength", Annotated[str, MinLength(1), MaxLength(9)], {"minLength": 1, "maxLength": 9}),
    ("validation:Pattern", Annotated[str, Pattern("^a+$")], {"pattern": "^a+$"}),
    ("validation:Format", Annotated[str, Format("ipv4")], {"format": "ipv4"}),
    ("validation:Enum", Literal["a", "b"], {"enum": ["a", "b"]}),
    ("validation:MinItems, MaxItems", Annotated[list[str], MinItems(1), MaxItems(3)], {"minItems": 1, "maxItems": 3}),
    ("validation:items:MaxLength", list[Annotated[str, MaxLength(3)]], {"items": {"type": "string", "maxLength": 3}}),
    (
        "validation:MinProperties, MaxProperties",
        Annotated[dict[str, str], MinProperties(1), MaxProperties(3)],
        {"minProperties": 1, "maxProperties": 3},
    ),
    (
        "validation:XValidation",
        Annotated[str, MaxLength(9), Rule("self == oldSelf", "it stays")],
        {"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "it stays"}]},
    ),
    ("validation:XIntOrString", IntOrString, {"x-kubernetes-int-or-string": True}),
    (
        "pruning:PreserveUnknownFields",
        Annotated[Any, PreserveUnknown()],
        {"x-kubernetes-preserve-unknown-fields": True},
    ),
    (
        "validation:EmbeddedResource",
        Annotated[dict[str, Any], EmbeddedResource(), PreserveUnknown()],
        {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    ),
    ("nullable", Annotated[str | None, Nullable()], {"nullable": True}),
    ("listType=set", Annotated[list[str], ListSet()], {"x-kubernetes-list-type": "set"}),
    ("listType=atomic", Annotated[list[str], ListAtomic()], {"x-kubernetes-list-type": "atomic"}),
    (
        "listType=map, listMapKey=name",
        Annotated[list[Part], ListMap("name")],
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    ),
    ("mapType=atomic", Annotated[dict[str, str], MapAtomic()], {"x-kubernetes-map-type": "atomic"}),
    ("structType=atomic", Whole, {"x-kubernetes-map-type": "atomic"}),
    ("resource.Quantity", Quantity, {"x-kubernetes-int-or-string": True}),
    ("int32", Int32, {"type": "integer", "format": "int32"}),
]


@pytest.mark.parametrize(("annotation", "expected"), [each[1:] for each in MARKERS], ids=[each[0] for each in MARKERS])
def test_what_a_marker_says_is_said_by_a_type(annotation: Any, expected: dict[str, Any]) -> None:
    class Thing(Struct):
        field: annotation

    Thing.__annotations__["field"] = annotation
    said = schema(Thing)["properties"]["field"]
    assert {name: said.get(name) for name in expected} == expected


def test_a_field_is_optional_if_it_has_a_default() -> None:
    """+optional, +required, +default, +kubebuilder:default, omitempty."""

    class Thing(Struct):
        must: str
        may: str | None = None
        filled_in: int = 3
        by_the_server: Annotated[int | None, Default(5)] = None
        named: Annotated[str | None, Required()] = None

    said = schema(Thing)
    assert said["required"] == ["must", "named"]
    defaults = {name: value.get("default") for name, value in said["properties"].items()}
    assert defaults == {"must": None, "may": None, "filledIn": 3, "byTheServer": 5, "named": None}


@pytest.mark.parametrize("one_of", [ExactlyOneOf, AtMostOneOf, AtLeastOneOf])
def test_one_of_several_is_a_rule(one_of: Any) -> None:
    """+kubebuilder:validation:ExactlyOneOf, AtMostOneOf, AtLeastOneOf."""

    class Thing(Struct, rules=[one_of("git", "bucket")]):
        git: Annotated[str | None, MaxLength(9)] = None
        bucket: Annotated[str | None, MaxLength(9)] = None

    (rule,) = schema(Thing)["x-kubernetes-validations"]
    assert "has(self.git)" in rule["rule"]
    assert "has(self.bucket)" in rule["rule"]


class ShopSpec(Spec):
    """What a shop sells."""

    replicas: int = 1
    """How many counters there are."""


class ShopStatus(Status):
    replicas: int = 0
    selector: str = ""


class Shop(
    Resource[ShopSpec, ShopStatus],
    group="demo.windvane.dev",
    version="v1",
    scope="Cluster",
    short_names=["sh"],
    categories=["all"],
    columns=[Column("Counters", ".spec.replicas", priority=1)],
    scale=ScaleSubresource(selector=".status.selector"),
    selectable=[".spec.replicas"],
):
    """Where things are sold."""


class OldShop(
    Resource[ShopSpec, ShopStatus],
    group="demo.windvane.dev",
    version="v1beta1",
    kind="Shop",
    scope="Cluster",
    short_names=["sh"],
    categories=["all"],
    stored=False,
    served=False,
    deprecated="use v1",
): ...


def test_the_keywords_of_a_class_say_the_rest_of_a_crd() -> None:
    """resource, printcolumn, subresource, selectablefield, storageversion, unservedversion, deprecatedversion."""
    spec = object_to_wire(crd(Shop, OldShop))["spec"]
    assert spec["scope"] == "Cluster"
    assert (spec["names"]["shortNames"], spec["names"]["categories"]) == (["sh"], ["all"])
    now, old = sorted(spec["versions"], key=lambda version: version["storage"], reverse=True)
    assert (now["name"], now["served"], now["storage"]) == ("v1", True, True)
    assert (old["name"], old.get("served", False), old["deprecationWarning"]) == ("v1beta1", False, "use v1")
    assert now["additionalPrinterColumns"][0] == {
        "name": "Counters",
        "jsonPath": ".spec.replicas",
        "type": "integer",
        "description": "How many counters there are.",
        "priority": 1,
    }
    assert set(now["subresources"]) == {"status", "scale"}
    assert now["selectableFields"] == [{"jsonPath": ".spec.replicas"}]
    assert now["schema"]["openAPIV3Schema"]["description"] == "Where things are sold."


def test_a_crd_is_an_object_that_can_be_changed_before_it_is_applied() -> None:
    """+kubebuilder:metadata:labels, annotations; a patch of config/crd."""
    definition = crd(Website)
    definition.metadata.annotations["team"] = "web"
    assert object_to_wire(definition)["metadata"]["annotations"]["team"] == "web"


# Results


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize(
    ("result", "passes"),
    [
        (None, [0.0]),
        (After(seconds=0), [0.0, 0.0, 0.0]),
        (After(minutes=5), [0.0, 300.0, 600.0]),
        (Fatal("never"), [0.0]),
    ],
    ids=["Result{}", "Requeue: true", "RequeueAfter: 5 * time.Minute", "TerminalError"],
)
async def test_what_a_pass_returns_says_when_the_next_one_comes(
    world: World, operator: Operator, result: Any, passes: list[float]
) -> None:
    began: list[float] = []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> After | None:
        began.append(ambient.monotonic())
        if isinstance(result, Exception):
            raise result
        returned: After | None = result if len(began) < 3 else None
        return returned

    await run(world, operator)
    await world.admin.create(website())
    await ambient.sleep(3600)
    assert [each - began[0] for each in began] == pytest.approx(passes, abs=0.5)


# Reading and writing


@pytest.mark.usefixtures("kind")
async def test_reads_come_from_the_cache_or_from_the_server(world: World, operator: Operator) -> None:
    """Get, List with MatchingLabels, InNamespace, MatchingFields; IgnoreNotFound; APIReader."""
    by_color = index(ConfigMap, by=lambda each: each.data.get("color"))
    seen: dict[str, Any] = {}

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        seen["get"] = ctx.get(ConfigMap, "red")
        seen["missing"] = ctx.get(ConfigMap, "green")
        seen["labels"] = [each.metadata.name for each in ctx.list(ConfigMap, labels={"hue": "warm"})]
        seen["namespace"] = [each.metadata.name for each in ctx.list(ConfigMap, namespace="elsewhere")]
        seen["field"] = [each.metadata.name for each in ctx.find(by_color, "blue")]
        seen["server"] = await ctx.client.get(ConfigMap, "red")

    red = config_map("red", {"color": "red"})
    red.metadata.labels = {"hue": "warm"}
    await world.admin.create(Namespace(metadata=ObjectMeta(name="elsewhere")))
    for each in (red, config_map("blue", {"color": "blue"})):
        await world.admin.create(each)
    await world.admin.create(ConfigMap(metadata=ObjectMeta(name="far", namespace="elsewhere")))
    await world.admin.create(website())
    await settled(world, await run(world, operator))
    assert seen["get"].data == seen["server"].data == {"color": "red"}
    assert seen["missing"] is None
    assert (seen["labels"], seen["namespace"], seen["field"]) == (["red"], ["far"], ["blue"])


async def test_the_client_has_all_verbs(world: World) -> None:
    """Create, Update, Patch, Apply, Delete, DeleteAllOf, Status().Patch, DryRunAll, optimistic locks."""
    client = world.admin
    made = await client.create(config_map("a", {"x": "1"}))
    made.data["x"] = "2"
    await client.replace(made)
    with pytest.raises(Conflict):
        await client.replace(made)
    await client.patch(ConfigMap, "a", {"data": {"y": "1"}})
    await client.patch(ConfigMap, "a", [{"op": "add", "path": "/data/z", "value": "1"}], type="json")
    await client.apply(ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"w": "1"}))
    await client.create(config_map("b", {}), dry_run=True)
    with pytest.raises(NotFound):
        await client.get(ConfigMap, "b")
    assert (await client.get(ConfigMap, "a")).data == {"w": "1", "x": "2", "y": "1", "z": "1"}
    await client.create(crd(Website))
    await client.create(website())
    await client.patch(Website, "blog", {"status": {"page": "shown"}}, subresource="status")
    assert (await blog(world)).status.page == "shown"
    with pytest.raises(Conflict):
        await client.delete(ConfigMap, "a", uid="another")
    await client.delete(ConfigMap, "a")
    await client.delete_collection(Website, namespace="default")
    assert len(await client.list(Website)) == 0


@pytest.mark.usefixtures("kind")
async def test_a_child_states_only_what_matters(world: World, operator: Operator) -> None:
    """CreateOrUpdate, CreateOrPatch with a function that sets some fields; OperationResult."""
    wrote: list[bool] = []

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        before = ctx.get(ConfigMap, "blog")
        child = await ctx.apply(config_map("blog", {"page": site.spec.page}))
        wrote.append(before is None or child.metadata.resource_version != before.metadata.resource_version)

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.patch(ConfigMap, "blog", {"data": {"note": "of another client"}})
    await settled(world, running)
    assert (await world.admin.get(ConfigMap, "blog")).data == {"page": "hello", "note": "of another client"}
    assert wrote == [True, False, False]


# What brings a pass


@pytest.mark.usefixtures("kind")
async def test_a_change_of_labels_brings_a_pass_and_the_status_of_ones_own_does_not(
    world: World, operator: Operator
) -> None:
    """For(&Website{}) with and without GenerationChangedPredicate."""
    seen: list[str] = []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(site.metadata.labels.get("tier", ""))
        site.status.page = site.spec.page

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.patch(Website, "blog", {"metadata": {"labels": {"tier": "gold"}}})
    await settled(world, running)
    assert seen == ["", "gold"]


@pytest.mark.usefixtures("kind")
async def test_a_grandchild_brings_a_pass_by_its_owner(world: World, operator: Operator) -> None:
    """Watches(&Secret{}, handler.EnqueueRequestForOwner(...)), of what this operator does not own."""
    seen: list[int] = []

    @operator.controller(Website, watches=[Watch(Secret, to=owned_by(Website))])
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(len(ctx.list(Secret)))

    running = await run(world, operator)
    site = await world.admin.create(website())
    await settled(world, running)
    reference = [{"apiVersion": "demo.windvane.dev/v1", "kind": "Website", "name": "blog", "controller": True}]
    secret = Secret(metadata=ObjectMeta(name="key", namespace="default"))
    await world.admin.create(secret)
    await settled(world, running)
    assert seen == [0]
    patch = {"metadata": {"ownerReferences": [{**reference[0], "uid": site.metadata.uid}]}}
    await world.admin.patch(Secret, "key", patch)
    await settled(world, running)
    assert seen == [0, 1]


@pytest.mark.usefixtures("kind")
async def test_an_object_that_is_gone_brings_no_pass(world: World, operator: Operator) -> None:
    """`if apierrors.IsNotFound(err) { return ctrl.Result{}, nil }` at the top of Reconcile."""
    seen: list[str] = []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(site.metadata.name)

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    assert seen == ["blog"]


# Saying how it stands


@pytest.mark.usefixtures("kind")
async def test_conditions_keep_the_time_of_their_last_transition(world: World, operator: Operator) -> None:
    """meta.SetStatusCondition, ObservedGeneration."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        ctx.condition("Public", site.spec.copies > 1, f"{site.spec.copies} copies", reason="Counted")

    running = await run(world, operator)
    await world.admin.create(website(copies=2))
    await settled(world, running)
    first = find_condition((await blog(world)).status.conditions, "Public")
    for copies in (3, 0):
        await ambient.sleep(100)
        await world.admin.patch(Website, "blog", {"spec": {"copies": copies}})
        await settled(world, running)
        site = await blog(world)
        now = find_condition(site.status.conditions, "Public")
        assert first is not None
        assert now is not None
        assert (now.message, now.observed_generation) == (f"{copies} copies", site.metadata.generation)
        assert (now.last_transition_time == first.last_transition_time) == (copies == 3)


@pytest.mark.usefixtures("kind")
async def test_an_event_has_type_reason_and_message(world: World, operator: Operator) -> None:
    """recorder.Event(obj, corev1.EventTypeWarning, "Full", "...")."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        ctx.event("Full", f"the disk of {site.metadata.name} is full", type="Warning")

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    (event,) = await world.admin.list(Event)
    assert (event.type, event.reason, event.message) == ("Warning", "Full", "the disk of blog is full")


# The manager


@pytest.mark.usefixtures("kind")
async def test_what_runs_beside_the_passes_is_a_task_of_a_lifespan(world: World, operator: Operator) -> None:
    """mgr.Add(manager.RunnableFunc(...)), and a channel source of events."""
    seen: list[int] = []

    @operator.lifespan
    async def ticks(client: Client) -> AsyncIterator[list[int]]:
        numbers: list[int] = []

        async def count() -> None:
            while True:
                await ambient.sleep(60)
                numbers.append(len(numbers))
                running.ask(Website, "blog", namespace="default", why="a minute is over")

        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(count())
            yield numbers
            task.cancel()

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(len(ctx.value(ticks)))

    stop = asyncio.Event()
    running = operator.run(world.client(), stop=stop)

    async def work() -> None:
        await running

    task = world.start(work())
    await world.admin.create(website())
    await ambient.sleep(190)
    assert seen == [0, 1, 2, 3]
    stop.set()
    await task


@pytest.mark.usefixtures("kind")
async def test_of_two_replicas_one_leads_and_gives_its_lease_back(world: World, operator: Operator) -> None:
    """LeaderElection, LeaderElectionID, LeaderElectionReleaseOnCancel."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None: ...

    stop = asyncio.Event()
    first = operator.run(world.client(), identity="first", stop=stop)

    async def work() -> None:
        await first

    task = world.start(work())
    await world.until(lambda: first.leading)
    assert (await world.admin.get(Lease, "websites")).spec.holder_identity == "first"
    stop.set()
    await task
    assert not (await world.admin.get(Lease, "websites")).spec.holder_identity


@pytest.mark.usefixtures("kind")
async def test_everything_is_looked_at_again_as_often_as_a_pass_says(world: World, operator: Operator) -> None:
    """cache.Options{SyncPeriod}: there is none, and it is not needed."""
    passes = 0

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> After:
        nonlocal passes
        passes += 1
        return After(hours=10)

    await run(world, operator)
    await world.admin.create(website())
    await ambient.sleep(30 * 3600 + 60)
    assert passes == 4


@pytest.mark.usefixtures("kind")
async def test_a_panic_is_a_failure_like_any_other(world: World, operator: Operator) -> None:
    """RecoverPanic."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        site.status.page = site.spec.aliases[5]

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert ready_of(await blog(world)) == ("False", "IndexError", "list index out of range")


# Moving over


@pytest.mark.usefixtures("kind")
async def test_children_of_a_go_operator_are_gone_on_with(world: World, operator: Operator) -> None:
    """They were written by Update, under another name, with a controller reference."""

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("blog", {"page": site.spec.page}))

    site = await world.admin.create(website())
    child = config_map("blog", {"page": "old", "mode": "fast"})
    child.metadata.owner_references = [owner_reference(site)]
    await world.admin.create(child)
    await settled(world, await run(world, operator))
    assert (await world.admin.get(ConfigMap, "blog")).data == {"page": "hello", "mode": "fast"}
    assert [each.reason for each in await world.admin.list(Event)] == ["FieldConflict"]
    assert ready_of(await blog(world))[0] == "True"
