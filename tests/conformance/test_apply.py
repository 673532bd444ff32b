"""Server-side apply and managedFields: who owns which field, what becomes of it, and who is told that it is taken."""

from typing import Any

import pytest

from conformance.crds import OWNERSHIP
from conformance.objects import Thing, config_map, deployment, service
from conformance.ownership import applied_thing, owners, send
from conformance.requests import Raw, Refused
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


def ownable(*, version: str = "v1", **spec: Any) -> Thing:
    return {"apiVersion": f"{OWNERSHIP}/{version}", "kind": "Ownable", "metadata": {"name": "o"}, "spec": spec}


async def test_applying_makes_what_is_not_there_with_201(raw: Raw) -> None:
    assert (await send(raw, "apply one configmaps/a", applied(k="v"))).code == 201
    assert (await send(raw, "apply one configmaps/a", applied(k="w"))).code == 200


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


async def test_a_dry_run_of_what_is_not_there(raw: Raw) -> None:
    tried = await send(raw, "apply one configmaps/a?dryRun=All", applied(k="v"))
    assert tried.code == 201
    assert owners(tried.json) == {"one Apply v1": ".data.k"}
    assert (await raw("GET configmaps/a")).code == 404


async def test_a_dry_run_conflicts_all_the_same(raw: Raw) -> None:
    await send(raw, "apply one configmaps/a", applied(k="v"))
    assert (await send(raw, "apply two configmaps/a?dryRun=All", applied(k="w"))).code == 409


async def test_applying_with_the_current_version_stated(raw: Raw) -> None:
    first = (await send(raw, "apply one configmaps/a", applied(k="v"))).json
    version = {"resourceVersion": first["metadata"]["resourceVersion"], "uid": first["metadata"]["uid"]}
    again = await send(raw, "apply one configmaps/a", applied_thing("ConfigMap", metadata=version, data={"k": "w"}))
    assert owners(again.json) == {"one Apply v1": ".data.k"}


async def test_a_version_of_what_is_not_there_is_ignored(raw: Raw) -> None:
    made = await send(raw, "apply one configmaps/a", applied_thing("ConfigMap", metadata={"resourceVersion": "1"}))
    assert made.code == 201


async def test_the_generation_moves_with_what_is_applied(raw: Raw, crds: None) -> None:
    generations = []
    for size in (1, 1, 2):
        made = await send(raw, "apply one ownables/o", ownable(size=size))
        generations.append(made.json["metadata"]["generation"])
    shared = await send(raw, "apply two ownables/o", ownable(size=2))
    assert [*generations, shared.json["metadata"]["generation"]] == [1, 1, 2, 2]


async def test_force_is_said_in_many_ways(raw: Raw) -> None:
    await send(raw, "apply one configmaps/a", applied(k="0"))
    for word, code in (("1", 200), ("true", 200), ("yes", 200), ("", 200), ("0", 409), ("False", 409)):
        answer = await send(raw, f"apply two{word} configmaps/a?force={word}", applied(k=f"v{word}"))
        assert answer.code == code, word


async def test_nobody_can_not_apply(raw: Raw) -> None:
    answer = await raw("PATCH configmaps/a", applied(), patch="apply")
    required = "fieldManager: Required value: is required for apply patch"
    assert answer.refusal == Refused(
        422,
        "Invalid",
        f'PatchOptions.meta.k8s.io "" is invalid: {required}',
        "PatchOptions.meta.k8s.io",
        ["FieldValueRequired fieldManager"],
    )


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


@pytest.mark.parametrize(
    ("how", "code", "warnings"),
    [("", 201, ['299 - "line 6: key \\"k\\" already set in map"']), ("Ignore", 201, []), ("Strict", 400, [])],
)
async def test_yaml_with_a_key_that_comes_twice(raw: Raw, how: str, code: int, warnings: list[str]) -> None:
    body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: "1"\n  k: "2"\n'
    answer = await raw(f"PATCH configmaps/a?fieldManager=one&fieldValidation={how}", body, patch="apply")
    assert (answer.code, answer.warnings) == (code, warnings)
    if code == 400:
        problem = 'error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "k" already set in map'
        assert answer.json["message"] == f"error strict decoding YAML: {problem}"
    else:
        assert answer.json["data"] == {"k": "2"}


@pytest.mark.parametrize(
    ("place", "thing", "problem"),
    [
        (
            "secrets/a",
            applied_thing("Secret", data={"k": "%"}),
            "error decoding from json: illegal base64 data at input byte 0",
        ),
        ("deployments/web", applied_thing("Deployment", **deployment(replicas=1.5)), "cannot convert float64 to int32"),
        (
            "services/s",
            applied_thing("Service", **service(ports=[{"port": 80, "targetPort": 1.5}])),
            "json: cannot unmarshal number 1.5 into Go value of type int32",
        ),
    ],
    ids=["bytes", "a number", "a number or a name"],
)
async def test_what_the_schema_lets_through_must_fit_the_type(raw: Raw, place: str, thing: Thing, problem: str) -> None:
    answer = await raw(f"PATCH {place}?fieldManager=one", thing, patch="apply")
    version = thing["apiVersion"] if "/" in thing["apiVersion"] else f"/{thing['apiVersion']}"
    kind = f"{version}, Kind={thing['kind']}"
    why = f"unable to convert unstructured object to {kind}: {problem}"
    what = f"failed to convert new object (/{thing['metadata']['name']}; {kind}) to proper version: {why}"
    assert answer.refusal == Refused(500, "", what)


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
