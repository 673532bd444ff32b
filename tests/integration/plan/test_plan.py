"""`windvane plan`: what an operator would do is what it then does, and nothing is written for it."""

from typing import Any

import pytest

from integration.plan.shops import Branch, Shop, Shops, changes, planned, shop, state, told
from windvane import (
    Client,
    ClientError,
    Context,
    Denied,
    ObjectMeta,
    Operator,
    Resource,
    Spec,
    Status,
    Watch,
    object_to_wire,
)
from windvane.cli.plan import CHANGES, CUT_SHORT, exit_code
from windvane.cli.plan.plan import CanNotPlan
from windvane.cli.plan.report import Words, in_words
from windvane.cli.plan.transport import DryRuns, Reads
from windvane.client.transport import Request
from windvane.k8s import apps, core
from windvane.testing import Cluster


async def opened(cluster: Cluster, *shops: Shop, image: str = "shop:1") -> None:
    """A cluster in which these shops are as they should be, and their operator runs no more."""
    replica = await cluster.run(Shops(image).operator)
    for each in shops:
        await cluster.apply(each)
    await cluster.settled()
    await replica.stop()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, {"copies": 2, "towns": ["ghent", "bruges"], "motd": "hello"}),
        ({"copies": 1}, {"copies": 4}),
        ({"towns": ["ghent", "bruges"], "motd": "one\ntwo\n"}, {"towns": ["ghent"], "motd": "one\nthree\n"}),
        ({"motd": "hello", "towns": ["ghent"]}, {}),
        ({}, {"mode": "wait"}),
        ({}, {"mode": "fatal"}),
        ({}, {"mode": "raise"}),
        ({}, {"mode": "steps"}),
        ({}, {"mode": "later"}),
    ],
)
async def test_what_is_planned_is_what_then_happens(cluster: Cluster, before: Any, after: Any) -> None:
    await opened(cluster, *([shop(**before)] if before is not None else []))
    was = await state(cluster.client)
    operator = Shops().operator
    plan, asked = await planned(operator, cluster.client, manifests=[object_to_wire(shop(**after))])
    assert {each.method for each in asked} == {"GET"}
    assert await state(cluster.client) == was
    await cluster.run(operator)
    await cluster.client.apply(shop(**after), force=True, field_manager="kubectl")
    await cluster.settled()
    really = changes(was, await state(cluster.client))
    planned_changes = told(plan.all_changes, "shops")
    if before is None:  # of one that is new, the file's part and the operator's are two
        mine = planned_changes.pop(("change", "Shop", "corner"))
        planned_changes["create", "Shop", "corner"] |= mine
    assert planned_changes == told(really, "shops")


async def test_nothing_is_to_be_done_to_what_is_as_it_should_be(cluster: Cluster) -> None:
    await opened(cluster, shop(copies=2, towns=["ghent"]), shop("mall"))
    plan, _ = await planned(Shops().operator, cluster.client, everything=True)
    assert (plan.all_changes, plan.cut_short, exit_code(plan)) == ([], "", 0)
    assert {each.where for each in plan.passes} == {"default/corner", "default/mall", "default/corner-ghent"}
    assert "Nothing is to be done." in in_words(plan, Words())


async def test_what_a_new_version_of_the_operator_would_do(cluster: Cluster) -> None:
    await opened(cluster, shop(), shop("mall"))
    plan, _ = await planned(Shops("shop:2").operator, cluster.client, everything=True)
    assert exit_code(plan) == CHANGES
    assert {
        (each.name, field.path, field.old, field.new, *field.owners)
        for each in plan.changes
        if each.kind.name == "Deployment"
        for field in each.fields
    } == {
        (name, "spec.template.spec.containers[till].image", "shop:1", "shop:2", "shops") for name in ("corner", "mall")
    }
    only, _ = await planned(Shops("shop:2").operator, cluster.client, objects=[(Shop, "default", "mall")])
    assert {each.name for each in only.changes} == {"mall"}


async def test_a_field_that_others_hold_is_shown_with_them(cluster: Cluster) -> None:
    await opened(cluster, shop(copies=1))
    other = Client(cluster.client.calls.transport, field_manager="autoscaler")
    await other.patch(apps.Deployment, "corner", {"spec": {"replicas": 7}}, namespace="default")
    plan, _ = await planned(Shops().operator, cluster.client, objects=[(Shop, "default", "corner")])
    (change,) = (each for each in plan.changes if each.kind.name == "Deployment")
    assert [(each.path, each.old, each.new, each.owners, each.then) for each in change.fields] == [
        ("spec.replicas", 7, 1, ["autoscaler"], ["shops"])
    ]
    assert "spec.replicas: 7 → 1  [autoscaler → shops]" in in_words(plan, Words())


async def test_what_is_deleted_by_another_comes_back_and_no_secret_is_told(cluster: Cluster) -> None:
    await opened(cluster, shop())
    await cluster.delete(core.Secret, "corner-key")
    await cluster.settled()
    plan, _ = await planned(Shops().operator, cluster.client, everything=True)
    assert [(each.action, each.name) for each in plan.changes] == [("create", "corner-key")]
    words = in_words(plan, Words(everything=True))
    assert "data.key: (secret)" in words
    assert "sesame" not in words + str(plan)


async def test_an_object_that_is_being_deleted_is_finalized_in_the_plan(cluster: Cluster) -> None:
    await opened(cluster, shop())
    await cluster.delete(Shop, "corner")
    plan, _ = await planned(Shops().operator, cluster.client, everything=True)
    gone = ["Deployment", "Shop", "Secret"]  # the last one because its owner goes
    assert [(each.action, each.kind.name) for each in plan.changes] == [("delete", each) for each in gone]
    assert await cluster.exists(Shop, "corner")


@pytest.mark.parametrize(
    ("mode", "code", "words"),
    [
        ("wait", CHANGES, "Shop default/corner then waits: the permit is due. It looks again in 60 s."),
        ("fatal", CHANGES, "Shop default/corner can't be helped until it is changed: a shop can't sell that"),
        ("raise", 1, "Shop default/corner fails: LookupError: no such supplier (shops.py line "),
        ("restless", CUT_SHORT, "Shop default/corner asks for one pass after the other, and has had 20"),
    ],
)
async def test_how_a_plan_ends(cluster: Cluster, mode: str, code: int, words: str) -> None:
    await opened(cluster, shop())
    plan, _ = await planned(Shops().operator, cluster.client, manifests=[object_to_wire(shop(mode=mode))])
    assert exit_code(plan) == code
    assert words in in_words(plan, Words())


async def test_a_plan_goes_as_far_as_it_is_told_to(cluster: Cluster) -> None:
    await opened(cluster, shop())
    stated = [object_to_wire(shop(mode="steps"))]
    plan, _ = await planned(Shops().operator, cluster.client, manifests=stated, passes=2)
    assert (len(plan.passes), exit_code(plan)) == (2, CUT_SHORT)
    assert "has had 2 passes, as --passes says" in plan.cut_short


async def test_what_the_file_says_goes_through_the_operators_own_webhooks(cluster: Cluster) -> None:
    await opened(cluster)
    shops = Shops()

    @shops.operator.default(Shop)
    def fill_in(one: Shop) -> None:
        one.spec.copies = one.spec.copies or 3

    @shops.operator.validate(Shop)
    def judge(one: Shop) -> None:
        if one.spec.copies > 5:
            raise Denied("so many copies need a permit")

    plan, _ = await planned(shops.operator, cluster.client, manifests=[object_to_wire(shop(copies=0))])
    (deployment,) = (each for each in plan.changes if each.kind.name == "Deployment")
    assert {each.path: each.new for each in deployment.fields}["spec.replicas"] == 3
    with pytest.raises(CanNotPlan, match=r"Shop default/corner would be refused: .*so many copies need a permit"):
        await planned(shops.operator, cluster.client, manifests=[object_to_wire(shop(copies=9))])


# Nothing is written


async def test_no_verb_of_the_client_reaches_the_cluster(cluster: Cluster) -> None:
    await opened(cluster, shop(towns=["ghent"]))
    pod = core.Pod(
        metadata=ObjectMeta(name="p", namespace="default"),
        spec=core.PodSpec(containers=[core.Container(name="a", image="a")]),
    )
    await cluster.client.create(pod)
    await cluster.settled()
    done = 0
    every = Operator("every-verb")

    @every.controller(Shop)
    async def reconcile(one: Shop, ctx: Context) -> None:
        nonlocal done
        c = ctx.client
        config = core.ConfigMap(metadata=ObjectMeta(name="new", namespace="default"), data={"a": "1"})
        replicas = [{"op": "replace", "path": "/spec/replicas", "value": 8}]
        labels = {"metadata": {"labels": {"a": "b"}}}
        for call in (
            c.create(config),
            c.replace(config),
            c.apply(config, force=True),
            c.patch(apps.Deployment, "corner", {"spec": {"replicas": 9}}),
            c.patch(apps.Deployment, "corner", replicas, type="json"),
            c.patch(apps.Deployment, "corner", labels, type="strategic"),
            c.scale(apps.Deployment, "corner", 7),
            c.patch(Shop, "corner", {"status": {"steps": 5}}, subresource="status"),
            c.evict("p"),
            c.token("default"),
            c.delete(Branch, "corner-ghent"),
            c.delete(apps.Deployment, "corner"),
            c.delete_collection(core.Secret),
        ):
            await call
            done += 1

    was = await state(cluster.client), object_to_wire(await cluster.get(core.Pod, "p"))
    plan, asked = await planned(every, cluster.client, objects=[(Shop, "default", "corner")], passes=1)
    assert {each.method for each in asked} == {"GET"}
    assert (await state(cluster.client), object_to_wire(await cluster.get(core.Pod, "p"))) == was
    assert done == 13, plan.failures
    assert {(each.action, each.kind.name, each.name) for each in plan.changes} >= {
        ("create", "ConfigMap", "new"),
        ("delete", "Deployment", "corner"),
        ("delete", "Secret", "corner-key"),
        ("delete", "Branch", "corner-ghent"),
        ("delete", "Pod", "p"),
    }


@pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
async def test_what_goes_with_its_owner_is_in_the_plan(cluster: Cluster, propagation: Any) -> None:
    await opened(cluster, shop(towns=["ghent"]))
    closing = Operator("closing")

    @closing.controller(Shop, watches=[Watch(what, to=lambda _: "corner") for what in (Branch, core.ConfigMap)])
    async def close(one: Shop, ctx: Context) -> None:
        branch = ctx.get(Branch, "corner-ghent")
        if branch is not None and branch.metadata.deletion_timestamp is None:
            await ctx.client.delete(Branch, "corner-ghent", propagation=propagation)

    was = await state(cluster.client)
    plan, _ = await planned(closing, cluster.client, everything=True)
    assert plan.cut_short == ""
    await cluster.run(closing)
    await cluster.settled()
    really = changes(was, await state(cluster.client))
    assert next((each.action, each.kind.name) for each in really) == ("delete", "Branch")
    assert {(each.action, each.kind.name, each.name) for each in plan.changes if each.kind.name != "Shop"} == {
        (each.action, each.kind.name, each.name) for each in really if each.kind.name != "Shop"
    }


async def test_objects_of_a_kind_that_the_cluster_has_not_yet_can_be_planned(cluster: Cluster) -> None:
    stated = [object_to_wire(shop(towns=["ghent"]))]
    with pytest.raises(CanNotPlan, match="the cluster has no shops"):
        await planned(Shops().operator, cluster.client, manifests=stated)
    plan, _ = await planned(Shops().operator, cluster.client, manifests=stated, install_crds=True)
    assert {each.kind.name for each in plan.applied} == {"CustomResourceDefinition", "Shop"}
    assert {each.name for each in plan.changes if each.kind.name == "ConfigMap"} == {"corner-ghent"}


@pytest.mark.parametrize("copies", [2, 9])
async def test_the_server_is_asked_about_what_is_written_if_that_is_wanted(cluster: Cluster, copies: int) -> None:
    """It has a webhook that the view knows nothing of, and which keeps nothing of a dry run."""
    await opened(cluster, shop())
    guard = Operator("guard")

    @guard.validate(apps.Deployment, failure_policy="Fail")
    def few(one: apps.Deployment) -> None:
        if (one.spec.replicas or 0) > 5:
            raise Denied("nobody needs so many")

    await cluster.run(guard)
    was = await state(cluster.client)
    stated = [object_to_wire(shop(copies=copies))]
    plan, asked = await planned(Shops().operator, cluster.client, manifests=stated, judged=True)
    assert await state(cluster.client) == was
    writes = [each for each in asked if each.method != "GET"]
    assert {each.path.rpartition("/")[2] for each in writes} >= {"corner"}
    assert all(("dryRun", "All") in each.query for each in writes)
    if copies == 2:
        assert (plan.refusals, plan.notes, exit_code(plan)) == ({}, [], CHANGES)
    else:
        assert exit_code(plan) == 1
        words = in_words(plan, Words())
        assert "The server would refuse Deployment default/corner: " in words
        assert "nobody needs so many" in words
    unasked, asked = await planned(Shops().operator, cluster.client, manifests=stated)
    assert {each.method for each in asked} == {"GET"}
    assert unasked.refusals == {}


@pytest.mark.parametrize("transport", [Reads, DryRuns])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_what_is_neither_a_read_nor_a_dry_run_is_not_sent(transport: Any, method: str) -> None:
    with pytest.raises(ClientError, match="did not send"):
        async with transport(None).open(Request(method, "/api/v1/namespaces/default/pods/a")):
            pass


class OldSpec(Spec):
    host: str


class Old(Resource[OldSpec, Status], group="plan.windvane.dev", version="v1beta1", kind="Route", stored=False):
    """A kind as it was."""


class RouteSpec(Spec):
    hosts: list[str]


class Route(Resource[RouteSpec, Status], group="plan.windvane.dev", version="v1"):
    """The same as it is."""


def routes() -> Operator:
    operator = Operator("routes")

    @operator.convert(Old, Route)
    def up(old: Old) -> Route:
        return Route(spec=RouteSpec(hosts=[old.spec.host]))

    @operator.convert(Route, Old)
    def down(new: Route) -> Old:
        return Old(spec=OldSpec(host=new.spec.hosts[0]))

    @operator.controller(Route, owns=[core.ConfigMap])
    async def reconcile(route: Route, ctx: Context) -> None:
        await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name="hosts"), data={"all": ",".join(route.spec.hosts)}))

    return operator


async def test_versions_are_converted_by_the_operator_that_is_planned(cluster: Cluster) -> None:
    await cluster.run(routes())
    await cluster.apply(Old(metadata=ObjectMeta(name="blog", namespace="default"), spec=OldSpec(host="a.example.com")))
    await cluster.settled()
    moved = Old(metadata=ObjectMeta(name="blog", namespace="default"), spec=OldSpec(host="b.example.com"))
    plan, _ = await planned(routes(), cluster.client, manifests=[object_to_wire(moved)])
    fields = [(each.kind.name, f.path, f.old, f.new) for each in plan.all_changes for f in each.fields]
    assert [each for each in fields if not each[1].startswith("status")] == [  # which these functions do not convert
        ("Route", "spec.hosts", ["a.example.com"], ["b.example.com"]),
        ("ConfigMap", "data.all", "a.example.com", "b.example.com"),
    ]
    unchanged, _ = await planned(routes(), cluster.client, everything=True, install_crds=True)
    assert [(each.kind.name, each.fields) for each in unchanged.all_changes] == [("CustomResourceDefinition", [])]
