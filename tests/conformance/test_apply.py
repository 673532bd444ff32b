"""Server-side apply and managedFields: who owns which field, what becomes of it, and who is told that it is taken."""

import pytest

from conformance.crds import OWNERSHIP
from conformance.objects import Thing, config_map, deployment
from conformance.ownership import applied_thing, owners, send
from conformance.requests import Raw
from windvane import Client, Conflict, ObjectMeta
from windvane.k8s.core import ConfigMap


def applied(**data: str) -> Thing:
    return applied_thing("ConfigMap", **({"data": data} if data else {}))


def entry(manager: str) -> Thing:
    fields: Thing = {"f:data": {".": {}, "f:k": {}}}
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2020-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


async def test_applying_the_same_again_changes_neither_version_nor_time(raw: Raw) -> None:
    first = await send(raw, "apply one configmaps/a", applied(k="v"))
    again = await send(raw, "apply one configmaps/a", applied(k="v"))
    assert again.json == first.json


async def test_sharing_a_field_changes_the_version_but_the_new_owner_has_no_time(raw: Raw) -> None:
    first = (await send(raw, "apply one configmaps/a", applied(k="v"))).json
    shared = (await send(raw, "apply two configmaps/a", applied(k="v"))).json
    assert shared["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
    times = {entry["manager"]: entry.get("time") for entry in shared["metadata"]["managedFields"]}
    (owned,) = first["metadata"]["managedFields"]
    assert times == {"one": owned["time"], "two": None}


async def test_a_dry_run_shows_what_applying_would_lead_to_and_leaves_it(raw: Raw) -> None:
    first = await send(raw, "apply one configmaps/a", applied(k="v"))
    tried = await send(raw, "apply one configmaps/a?dryRun=All", applied(k="w"))
    assert tried.json["data"] == {"k": "w"}
    assert tried.json["metadata"]["resourceVersion"] == first.json["metadata"]["resourceVersion"]
    assert await raw.ok("GET configmaps/a") == first.json


@pytest.mark.parametrize(
    ("agent", "manager"),
    [("kubectl/v1.36 (linux)", "kubectl"), ("a b", "a b"), ("x" * 200, "x" * 128), ("/v1", "unknown")],
)
async def test_the_manager_of_a_program_that_names_none(raw: Raw, agent: str, manager: str) -> None:
    made = await raw("POST configmaps", config_map(data={"k": "v"}), headers={"User-Agent": agent})
    assert owners(made.json) == {f"{manager} Update v1": ".data .data.k"}


async def test_the_oldest_entries_of_managed_fields_come_first(raw: Raw) -> None:
    await send(raw, "create z configmaps", config_map(data={"k": "v"}))
    await send(raw, "apply y configmaps/a", applied(k="v"))
    shown = (await send(raw, "apply b configmaps/a", applied(l="v"))).json
    order = [(entry["operation"], entry["manager"]) for entry in shown["metadata"]["managedFields"]]
    # Who has no time because nothing was changed counts as oldest.
    assert order == [("Apply", "y"), ("Apply", "b"), ("Update", "z")]


async def test_the_default_namespace_is_the_servers_own(raw: Raw) -> None:
    shown = await raw.ok("GET /api/v1/namespaces/default")
    paths = ".metadata.labels .metadata.labels.kubernetes.io/metadata.name"
    assert owners(shown) == {"kube-apiserver Update v1": paths}


async def test_the_client_applies(raw: Raw, client: Client) -> None:
    def thing(**data: str) -> ConfigMap:
        return ConfigMap(metadata=ObjectMeta(name="a", namespace=raw.namespace), data=data)

    made = await client.apply(thing(k="v"), field_manager="one")
    again = await client.apply(thing(k="v"), field_manager="one")
    assert again.metadata.resource_version == made.metadata.resource_version
    with pytest.raises(Conflict, match=r'conflict with "one": \.data\.k'):
        await client.apply(thing(k="w"), field_manager="two")
    forced = await client.apply(thing(k="w"), field_manager="two", force=True)
    assert [entry.manager for entry in forced.metadata.managed_fields] == ["two"]


async def test_who_defines_a_kind_does_not_own_its_status(raw: Raw, crds: None) -> None:
    shown = await raw.ok(f"GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/ownables.{OWNERSHIP}")
    found = owners(shown)
    assert set(found) == {
        "conformance Update apiextensions.k8s.io/v1",
        "kube-apiserver Update apiextensions.k8s.io/v1 status",
    }
    accepted = [path for path in found["kube-apiserver Update apiextensions.k8s.io/v1 status"].split() if "." in path]
    assert all(path.startswith(".status.") for path in accepted)


async def test_a_generated_namespace_has_a_label_of_nobody(raw: Raw) -> None:
    shown = await raw.ok(f"GET /api/v1/namespaces/{raw.namespace}")
    assert shown["metadata"]["labels"] == {"kubernetes.io/metadata.name": raw.namespace}
    assert owners(shown) == {"conformance Update v1": ".metadata.generateName"}


async def test_a_daemon_sets_template_is_counted(raw: Raw) -> None:
    count = "deprecated.daemonset.template.generation"
    made = await raw.ok("POST daemonsets?fieldManager=one", deployment())
    same = await raw.ok("PUT daemonsets/web?fieldManager=two", deployment())
    changed = await raw.ok(
        "PATCH daemonsets/web?fieldManager=three", {"spec": {"template": {"spec": {"hostPID": True}}}}, patch="merge"
    )
    assert [each["metadata"]["annotations"][count] for each in (made, same, changed)] == ["1", "1", "2"]
    assert f".metadata.annotations.{count}" in owners(made)["one Update apps/v1"]
    assert owners(same)["two Update apps/v1"] == f".metadata.annotations.{count}"


async def test_deleting_takes_nobodys_fields(raw: Raw) -> None:
    finalized = applied_thing("ConfigMap", metadata={"finalizers": ["a.example/x"]}, data={"k": "v"})
    made = (await send(raw, "apply one configmaps/a", finalized)).json
    await raw.ok("DELETE configmaps/a")
    leaving = await raw.ok("GET configmaps/a")
    assert leaving["metadata"]["managedFields"] == made["metadata"]["managedFields"]
