"""The CRD of a kind that uses every constraint, judged by a real API server and by kubectl."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from everything import Contact, Everything, EverythingSpec, EverythingV1Beta1, Port, Source, Tier
from reference.controlplane import ControlPlaneError, ReferenceControlPlane
from reference.served import serve
from windvane import (
    Client,
    Condition,
    Dynamic,
    Invalid,
    ObjectMeta,
    Quantity,
    ambient,
    dynamic,
    kind_of,
    object_from_wire,
    object_to_wire,
)
from windvane.api import codec
from windvane.api.condition import set_condition
from windvane.api.lenient import read_leniently
from windvane.api.status import StatusCause


@pytest.fixture(scope="module", autouse=True)
def served(reference: ReferenceControlPlane) -> ReferenceControlPlane:
    """The control plane, once it serves the kind."""
    serve(reference, Everything, EverythingV1Beta1)
    return reference


def everything(name: str, **spec: Any) -> Everything:
    return Everything(metadata=ObjectMeta(name=name), spec=EverythingSpec(image="nginx", **spec))


def eventually(ask: Callable[[], str]) -> str:
    """The answer, once there is one: the server publishes the schema of a new kind a moment after it serves it."""
    give_up = ambient.monotonic() + 120
    while True:
        try:
            return ask()
        except ControlPlaneError:
            if ambient.monotonic() > give_up:
                raise


def plain(spec: dict[str, Any]) -> Dynamic:
    """An object with any spec, through a class without constraints: nothing but the server can refuse it."""
    return dynamic(kind_of(Everything))(metadata=ObjectMeta(name="bad"), content={"spec": spec})


def told(cause: StatusCause) -> tuple[str, str, str]:
    return cause.field, cause.reason, cause.message


def test_the_schema_is_structural(served: ReferenceControlPlane) -> None:
    status = json.loads(served.kubectl("get", "crd", "everythings.tests.windvane.dev", "-o", "json"))["status"]
    conditions = {condition["type"]: condition["status"] for condition in status["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}


def test_kubectl_explains_the_fields_with_our_words(served: ReferenceControlPlane) -> None:
    told = eventually(lambda: served.kubectl("explain", "everythings.spec"))
    assert "All that can be asked for." in told
    assert "The container image to serve." in told
    assert "How the port is called." in served.kubectl("explain", "evr.spec.ports.name")
    assert "ENUM:\n    fast\n    safe" in served.kubectl("explain", "everythings.spec.mode")


async def test_kubectl_shows_our_columns(served: ReferenceControlPlane, client: Client) -> None:
    await client.apply(everything("columns"))
    head, row = served.kubectl("get", "evr", "columns", "-o", "wide").splitlines()
    assert head.split() == ["NAME", "IMAGE", "REPLICAS", "UNTIL", "READY", "AGE"]
    assert row.split()[:3] == ["columns", "nginx", "1"]


async def test_kubectl_shows_ready_of_a_kind_that_states_no_columns(
    served: ReferenceControlPlane, client: Client
) -> None:
    thing = await client.create(everything("shown"))
    set_condition(thing.status.conditions, Condition(type="Ready", status="True", reason="Fine"))
    await client.replace(thing, subresource="status")
    head, row = served.kubectl("get", "everythings.v1beta1.tests.windvane.dev", "shown").splitlines()
    assert head.split() == ["NAME", "READY", "AGE"]
    assert row.split()[:2] == ["shown", "True"]


async def test_what_was_not_set_is_filled_in_by_the_server_as_python_fills_it_in(client: Client) -> None:
    mine = everything("defaults")
    assert object_to_wire(mine)["spec"].keys() == {"image", "ports", "quotas", "source", "limits"}
    theirs = await client.create(mine)
    assert theirs.spec.autoscaled == 3  # the one that only the server fills in
    theirs.spec.autoscaled = None
    assert theirs.spec == mine.spec


async def test_every_kind_of_value_comes_back_as_it_was(client: Client) -> None:
    spec = {
        "image": "nginx",
        "size": "1536Mi",
        "surge": 3,
        "timeout": "1h30m0s",
        "schedule": "0 2 * * *",
        "until": "2030-01-02T03:04:05Z",
        "at": "2030-01-02T03:04:05.000006Z",
        "secret": "c2VjcmV0",
        "tier": "paid",
        "clusterIPs": ["10.0.0.1"],
        "freeForm": {"any": [{"thing": None}]},
        "whatever": [1, "two"],
        "embedded": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}},
        "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"name": "c"}]}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        "selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
    }
    manifest = {"apiVersion": "tests.windvane.dev/v1", "kind": "Everything", "metadata": {"name": "v"}, "spec": spec}
    mine = object_from_wire(manifest, Everything)
    assert mine.spec.size == Quantity("1.5Gi")
    assert mine.spec.tier is Tier.PAID
    theirs = object_to_wire(await client.create(mine))
    for name, value in spec.items():
        assert theirs["spec"][name] == value, name


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"replicas": 101}, "spec.replicas", "should be less than or equal to 100"),
    ({"replicas": -1}, "spec.replicas", "should be greater than or equal to 0"),
    ({"low": 0}, "spec.low", "should be greater than 0"),
    ({"high": 1000}, "spec.high", "should be less than 1000"),
    ({"step": 7}, "spec.step", "should be a multiple of 5"),
    ({"ratio": 1.0}, "spec.ratio", "should be less than 1"),
    ({"budget": "x"}, "spec.budget", "should be at least 2 chars long"),
    ({"budget": "x" * 9}, "spec.budget", "Too long: may not be more than 8"),
    ({"host": "UPPER"}, "spec.host", "should match '^[a-z.]+$'"),
    ({"address": "300.1.1.1"}, "spec.address", "must be of type ipv4"),
    ({"tier": "gold"}, "spec.tier", 'supported values: "free", "paid"'),
    ({"mode": "odd"}, "spec.mode", 'supported values: "fast", "safe"'),
    ({"size": "1 gallon"}, "spec.size", "should match"),
    ({"size": {}}, "spec.size", "must be of type"),
    ({"surge": True}, "spec.surge", "must be of type"),
    ({"timeout": "soon"}, "spec.timeout", "should match"),
    ({"schedule": ""}, "spec.schedule", "should match"),
    ({"schedule": "boo"}, "spec.schedule", "should match '^(@(yearly|"),
    ({"schedule": "5-2 * * * *"}, "<nil>", "must not validate the schema (not)"),
    ({"until": "tomorrow"}, "spec.until", "must be of type date-time"),
    ({"secret": "%%%"}, "spec.secret", "must be of type byte"),
    ({"image": 3}, "spec.image", "must be of type string"),
    ({"ports": []}, "spec.ports", "should have at least 1 items"),
    ({"ports": [{"name": f"p{n}", "number": 80} for n in range(4)]}, "spec.ports", "must have at most 3 items"),
    ({"ports": [{"name": "a", "number": 1}] * 2}, "spec.ports[1]", "Duplicate value"),
    ({"ports": [{"name": "a"}]}, "spec.ports[0].number", "Required value"),
    ({"ports": [{"name": "a", "number": 70000}]}, "spec.ports[0].number", "should be less than or equal to 65535"),
    ({"tags": ["a", "a"]}, "spec.tags[1]", "Duplicate value"),
    ({"tags": ["x" * 11]}, "spec.tags[0]", "Too long: may not be more than 10"),
    ({"quotas": {}}, "spec.quotas", "should have at least 1 properties"),
    ({"quotas": {"a": 1, "b": 2, "c": 3}}, "spec.quotas", "must have at most 2 items"),
    ({"source": {}}, "spec.source", "exactly one of gitURL, bucket, namespace must be set"),
    ({"source": {"bucket": "b", "namespace": "n"}}, "spec.source", "exactly one of gitURL, bucket, namespace"),
    ({"contact": {}}, "spec.contact", "at least one of email, phone must be set"),
    ({"contact": {"phone": "1", "pager": "2"}}, "spec.contact", "at most one of phone, pager must be set"),
    ({"contact": {"email": "nobody"}}, "spec.contact.email", "must be of type email"),
    ({"embedded": {"spec": {}}}, "spec.embedded.apiVersion", "Required value"),
    ({"pod": {"apiVersion": "v1", "kind": "Pod", "spec": {}}}, "spec.pod.spec.containers", "Required value"),
    ({"low": 9, "high": 3}, "spec.low", "low must not exceed high"),
    ({"replicas": 9}, "spec", "so many safe replicas need a budget"),
]


@pytest.mark.parametrize(("spec", "field", "message"), REFUSED, ids=[f"{spec}"[:40] for spec, _, _ in REFUSED])
async def test_each_constraint_refuses_a_bad_object(
    client: Client, spec: dict[str, Any], field: str, message: str
) -> None:
    good = object_to_wire(everything("good"))["spec"]
    with pytest.raises(Invalid) as refusal:
        await client.create(plain({**good, **spec}), dry_run=True)
    assert message in str(refusal.value)
    assert field in {cause.field for cause in refusal.value.causes}
    if "pod" in spec:
        return  # a list that is missing, and must be there, reads as an empty one, as it does in Go
    # What an author sees without a server is the same, word for word.
    wire = {**object_to_wire(everything("bad")), "spec": {**good, **spec}}
    mine, _ = read_leniently(codec.encode(wire), Everything)
    assert sorted(map(told, mine.validate())) == sorted(map(told, refusal.value.causes))


async def test_null_is_refused_unless_nullable(client: Client) -> None:
    with pytest.raises(Invalid, match=r"spec\.replicas"):
        await client.create(plain({"image": "x", "region": None, "replicas": "x"}), dry_run=True)
    kept = await client.create(plain({"image": "x", "note": None}), dry_run=True)
    assert kept["spec"]["note"] is None


async def test_rules_over_the_old_value_hold_on_update_only(client: Client) -> None:
    await client.create(everything("moves", region="north", frozen="a", once="x"))
    for change, message in [
        ({"region": "south"}, "region can't be changed"),
        ({"frozen": "b"}, "frozen can't be changed"),
        ({"once": "y"}, "spec.once"),
    ]:
        with pytest.raises(Invalid, match=message):
            await client.patch(Everything, "moves", {"spec": change})
    await client.patch(Everything, "moves", {"spec": {"image": "other"}})


async def test_unknown_fields_are_pruned_where_nothing_keeps_them(client: Client) -> None:
    sent = plain({"image": "x", "bogus": 1, "freeForm": {"bogus": 1}})
    kept = await client.create(sent, dry_run=True)
    assert "bogus" not in kept["spec"]
    assert kept["spec"]["freeForm"] == {"bogus": 1}


async def test_apply_merges_lists_by_their_keys_and_replaces_atomic_ones(client: Client) -> None:
    name = "merge"
    await client.apply(
        everything(name, ports=[Port(name="a", number=1)], tags=["one"], order=["first"], source=Source(bucket="b")),
        field_manager="alice",
    )
    other = everything(name, ports=[Port(name="b", number=2)], tags=["two"], source=Source(bucket="b"))
    merged = await client.apply(other, field_manager="bob")
    assert [port.name for port in merged.spec.ports] == ["a", "b"]
    assert merged.spec.tags == ["one", "two"]
    assert merged.spec.order == ["first"]


async def test_selectable_fields_select(client: Client) -> None:
    await client.apply(everything("fast-one", mode="fast"))
    found = await client.list(Everything, fields={"spec.mode": "fast"})
    assert [item.meta.name for item in found.items] == ["fast-one"]


async def test_the_scale_subresource_scales(client: Client) -> None:
    await client.apply(everything("scaled"))
    assert (await client.scale(Everything, "scaled", 4)).spec.replicas == 4
    assert (await client.get_scale(Everything, "scaled")).spec.replicas == 4
    assert (await client.get(Everything, "scaled")).spec.replicas == 4


async def test_status_and_spec_are_written_apart(client: Client) -> None:
    thing = await client.create(everything("apart"))
    thing.status.replicas = 7
    thing.spec.image = "changed"
    after = await client.replace(thing, subresource="status")
    assert (after.status.replicas, after.spec.image) == (7, "nginx")


async def test_an_older_version_is_served_with_its_warning(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    await client.apply(everything("two-versions", contact=Contact(email="a@b.example")))
    old = await client.get(EverythingV1Beta1, "two-versions")
    assert old.spec.image == "nginx"
    assert "v1beta1 Everything is deprecated; use v1" in caplog.text
