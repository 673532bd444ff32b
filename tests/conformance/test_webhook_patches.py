"""What webhooks make of objects: patch after patch, with the rules of the kind after each, and a second round."""

from typing import Any

import pytest

from conformance.crds import gadget
from conformance.objects import config_map, deployment, pod
from conformance.requests import Raw
from conformance.webhook_server import Says, Thing, Webhooks, add, allowed, patched

PODS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE", "UPDATE"]}
GADGETS = {
    "apiGroups": ["conformance.windvane.dev"],
    "apiVersions": ["v1"],
    "resources": ["gadgets"],
    "operations": ["CREATE", "UPDATE"],
}
CHANGES = {"operations": ["CREATE", "UPDATE"]}


def step(number: int) -> Says:
    """Adds to the ConfigMap what is to be done after the last step."""

    def says(request: Thing) -> Thing:
        steps = request["object"].get("data", {})
        return patched(add("/data", {**steps, f"step{number}": str(len(steps))}))(request)

    return says


async def test_webhooks_are_asked_in_order_and_each_sees_what_the_last_one_did(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("z", step(1)), webhooks.webhook("a", step(2)), name="a-first")
    await webhooks.install("Mutating", webhooks.webhook("b", step(3)), name="b-second")
    made = await raw.ok("POST configmaps", config_map())
    assert made["data"] == {"step1": "0", "step2": "1", "step3": "2"}


async def test_judges_see_what_was_made_of_the_object(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", step(1)))
    await webhooks.install("Validating", webhooks.webhook("v"), name="judges")
    await raw.ok("POST configmaps", config_map())
    (request,) = webhooks.requests("v")
    assert request["object"]["data"] == {"step1": "0"}


async def test_what_a_webhook_adds_gets_defaults(raw: Raw, webhooks: Webhooks) -> None:
    second = {"name": "second", "image": "nginx"}
    await webhooks.install(
        "Mutating",
        webhooks.webhook("m", patched(add("/spec/containers/-", second)), rule=PODS),
        webhooks.webhook("after", rule=PODS),
    )
    made = await raw.ok("POST pods", pod())
    assert made["spec"]["containers"][1]["terminationMessagePath"] == "/dev/termination-log"
    (request,) = webhooks.requests("after")
    assert request["object"]["spec"]["containers"][1]["imagePullPolicy"] == "Always"


async def test_and_what_the_servers_own_plugins_add(raw: Raw, webhooks: Webhooks) -> None:
    limits = {"limits": [{"type": "Container", "default": {"cpu": "500m"}}]}
    await raw.ok("POST limitranges", {"metadata": {"name": "limits"}, "spec": limits})
    second = {"name": "second", "image": "nginx"}
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/spec/containers/-", second)), rule=PODS))
    made = await raw.ok("POST pods", pod())
    assert [each["resources"].get("limits") for each in made["spec"]["containers"]] == [{"cpu": "500m"}] * 2


async def test_and_what_the_servers_own_plugins_added_before_if_it_is_taken_away(raw: Raw, webhooks: Webhooks) -> None:
    nothing = patched({"op": "replace", "path": "/spec/tolerations", "value": []})
    await webhooks.install("Mutating", webhooks.webhook("m", nothing, rule=PODS))
    made = await raw.ok("POST pods", pod())
    assert [each["key"] for each in made["spec"]["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    changed = await raw.ok("PATCH pods/p", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    assert changed["spec"]["tolerations"] == made["spec"]["tolerations"]


async def test_what_a_webhook_adds_to_a_custom_object_is_filled_in_and_pruned(
    raw: Raw, webhooks: Webhooks, crds: None
) -> None:
    changes = patched(add("/spec/unknown", 7), add("/spec/ports", [{"name": "http"}]))
    await webhooks.install("Mutating", webhooks.webhook("m", changes, rule=GADGETS))
    gadget = {"apiVersion": "conformance.windvane.dev/v1", "kind": "Gadget", "metadata": {"name": "g"}}
    made = await raw.ok("POST gadgets", {**gadget, "spec": {"size": 3}})
    assert made["spec"] == {
        "size": 3,
        "color": "red",
        "limits": {"cpu": "1"},
        "ports": [{"name": "http", "port": 80}],
    }


async def test_what_a_webhook_makes_of_an_object_must_be_valid(raw: Raw, webhooks: Webhooks, crds: None) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/spec/size", 11)), rule=GADGETS))
    gadget = {"apiVersion": "conformance.windvane.dev/v1", "kind": "Gadget", "metadata": {"name": "g"}}
    refused = (await raw("POST gadgets", {**gadget, "spec": {"size": 3}})).refusal
    assert (refused.code, refused.causes) == (422, ["FieldValueInvalid spec.size"])


async def test_unknown_fields_of_a_built_in_kind_are_dropped(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/unknown", 7))))
    assert "unknown" not in await raw.ok("POST configmaps?fieldValidation=Strict", config_map())


async def test_an_empty_patch_changes_nothing(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched()))
    assert (await raw.ok("POST configmaps", config_map(data={"a": "b"})))["data"] == {"a": "b"}


async def test_what_a_webhook_takes_away_is_not_stored(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched({"op": "remove", "path": "/data"}), rule=CHANGES))
    assert "data" not in await raw.ok("POST configmaps", config_map(data={"a": "b"}))
    assert "data" not in await raw.ok("PATCH configmaps/a", {"data": {"c": "d"}}, patch="merge")


@pytest.mark.parametrize(
    ("operation", "field", "kept"),
    [
        (add("/metadata/name", "other"), "name", "other"),
        (add("/metadata/labels", {"a": "b"}), "labels", {"a": "b"}),
        (add("/metadata/annotations", {"a": "b"}), "annotations", {"a": "b"}),
        (add("/metadata/finalizers", ["a.b/c"]), "finalizers", ["a.b/c"]),
    ],
    ids=["name", "labels", "annotations", "finalizers"],
)
async def test_metadata_of_a_new_object_may_be_changed(
    raw: Raw, webhooks: Webhooks, operation: Thing, field: str, kept: Any
) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched(operation)))
    made = await raw.ok("POST configmaps", config_map())
    assert made["metadata"][field] == kept


@pytest.mark.parametrize("plural", ["deployments", "gadgets"])
async def test_a_new_object_gets_no_status_from_a_webhook(
    raw: Raw, webhooks: Webhooks, crds: None, plural: str
) -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["v1"], "resources": [plural], "operations": ["CREATE"]}
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/status", {"replicas": 7})), rule=rule))
    gadget = {"apiVersion": "conformance.windvane.dev/v1", "kind": "Gadget", "metadata": {"name": "web"}}
    thing = deployment() if plural == "deployments" else {**gadget, "spec": {"size": 3}}
    assert (await raw.ok(f"POST {plural}", thing)).get("status", {}) == {}


async def test_a_change_keeps_its_status_whatever_a_webhook_says(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "operations": ["UPDATE"]}
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/status", {"replicas": 7})), rule=rule))
    await raw.ok("POST deployments", deployment())
    changed = await raw.ok("PATCH deployments/web", {"spec": {"replicas": 2}}, patch="merge")
    assert (changed["status"], changed["metadata"]["generation"]) == ({}, 2)


async def test_a_webhook_that_changes_the_spec_makes_a_new_generation(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "operations": ["UPDATE"]}
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/spec/paused", True)), rule=rule))
    await raw.ok("POST deployments", deployment())
    changed = await raw.ok("PATCH deployments/web", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    assert (changed["spec"]["paused"], changed["metadata"]["generation"]) == (True, 2)


async def test_a_uid_can_not_be_given(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/metadata/uid", "mine"))))
    assert (await raw.ok("POST configmaps", config_map()))["metadata"]["uid"] != "mine"


async def test_a_version_can_not_be_given(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/metadata/resourceVersion", "7"))))
    answer = await raw("POST configmaps", config_map())
    told = "resourceVersion should not be set on objects to be created"
    assert (answer.code, answer.json["message"]) == (500, told)


async def test_an_object_keeps_its_name(raw: Raw, webhooks: Webhooks, crds: None) -> None:
    rule = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "resources": ["configmaps", "gadgets", "deployments"],
        "operations": ["UPDATE"],
    }
    says = patched({"op": "remove", "path": "/metadata/name"})
    await webhooks.install("Mutating", webhooks.webhook("change", says, rule=rule))
    await raw.ok("POST configmaps", config_map("a"))
    await raw.ok("POST deployments", deployment("a"))
    await raw.ok("POST gadgets", gadget("a"))
    missing, fixed = "FieldValueRequired metadata.name", "FieldValueInvalid metadata.name"
    found = {
        "configmaps": [missing, fixed, fixed, missing],
        "deployments": [missing, fixed, fixed],
        "gadgets": [missing, fixed, fixed],
    }
    for resource, causes in found.items():
        answer = await raw(f"PATCH {resource}/a", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
        required = "metadata.name: Required value: name or generateName is required"
        told = f'[{required}, metadata.name: Invalid value: "": field is immutable]'
        assert answer.refusal.message.endswith(f' "" is invalid: {told}')
        assert answer.refusal.causes == causes


async def test_an_object_stays_in_its_namespace(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/metadata/namespace", "default"))))
    refused = (await raw("POST configmaps", config_map())).refusal
    told = "the namespace of the provided object does not match the namespace sent on the request"
    assert (refused.code, refused.message) == (400, told)


@pytest.mark.parametrize(
    ("operation", "code", "message"),
    [
        (add("/metadata/name", "other"), 422, 'metadata.name: Invalid value: "other": field is immutable'),
        (
            add("/metadata/namespace", "default"),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (add("/metadata/uid", "other"), 422, 'metadata.uid: Invalid value: "other": field is immutable'),
    ],
    ids=["name", "namespace", "uid"],
)
async def test_an_object_that_is_updated_stays_itself(
    raw: Raw, webhooks: Webhooks, operation: Thing, code: int, message: str
) -> None:
    rule = {"operations": ["UPDATE"]}
    await webhooks.install("Mutating", webhooks.webhook("m", patched(operation), rule=rule))
    await raw.ok("POST configmaps", config_map())
    answer = await raw("PUT configmaps/a", config_map("a", data={"x": "y"}))
    assert (answer.code, message in answer.json["message"]) == (code, True), answer.json["message"]


async def test_nobody_owns_what_a_webhook_adds_to_a_new_object(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/data", {"a": "b"}))))
    made = await raw.ok("POST configmaps?fieldManager=me", config_map(binaryData={"x": "eA=="}))
    (entry,) = made["metadata"]["managedFields"]
    assert (entry["manager"], entry["fieldsV1"]) == ("me", {"f:binaryData": {".": {}, "f:x": {}}})


async def test_what_somebody_applies_is_theirs_whatever_a_webhook_adds(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"operations": ["CREATE", "UPDATE"]}
    await webhooks.install("Mutating", webhooks.webhook("m", step(1), rule=rule))
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"mine": "x"}}
    for _ in range(2):
        made = await raw.ok("PATCH configmaps/a?fieldManager=me", thing, patch="apply")
        owned = {each["manager"]: each["fieldsV1"] for each in made["metadata"]["managedFields"]}
        assert owned == {"me": {"f:data": {"f:mine": {}}}}
        assert made["data"].keys() == {"mine", "step1"}


async def test_managers_that_a_webhook_invents_are_not_believed(raw: Raw, webhooks: Webhooks) -> None:
    bad = [{"manager": "x"}]
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/metadata/managedFields", bad))))
    answer = await raw("POST configmaps?fieldManager=me", config_map(data={"x": "y"}))
    told = (
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
        "admission controller; please fix your requests: operation must be `Apply` or `Update`"
    )
    assert answer.warnings == [f'299 - "{told}"']
    assert [each["manager"] for each in answer.json["metadata"]["managedFields"]] == ["me"]


async def test_a_scale_may_be_changed(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"apiGroups": ["apps"], "resources": ["deployments/scale"], "operations": ["UPDATE"]}
    hook = webhooks.webhook("m", patched({"op": "replace", "path": "/spec/replicas", "value": 7}), rule=rule)
    await webhooks.install("Mutating", hook)
    await raw.ok("POST deployments", deployment())
    scaled = await raw.ok("PATCH deployments/web/scale", {"spec": {"replicas": 3}}, patch="merge")
    assert scaled["spec"] == {"replicas": 7}
    assert (await raw.ok("GET deployments/web"))["spec"]["replicas"] == 7


async def test_a_status_may_be_changed(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"apiGroups": ["apps"], "resources": ["deployments/status"], "operations": ["UPDATE"]}
    hook = webhooks.webhook("m", patched(add("/status/replicas", 7), add("/spec/replicas", 9)), rule=rule)
    await webhooks.install("Mutating", hook)
    await raw.ok("POST deployments", deployment())
    changed = await raw.ok("PATCH deployments/web/status", {"status": {"replicas": 3}}, patch="merge")
    assert (changed["status"]["replicas"], changed["spec"]["replicas"]) == (7, 1)


async def test_a_deletion_can_not_be_changed(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"operations": ["DELETE"]}
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/data", {})), rule=rule))
    await raw.ok("POST configmaps", config_map())
    answer = await raw("DELETE configmaps/a")
    told = (
        'admission webhook "m.windvane.dev" attempted to modify the object, which is not supported for this operation'
    )
    assert (answer.code, answer.json["message"]) == (500, f"Internal error occurred: {told}")


async def test_a_patch_that_changes_nothing_writes_nothing(raw: Raw, webhooks: Webhooks) -> None:
    """What is asked for is there already, once webhooks have changed it."""
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/data", {"a": "b"})), rule=CHANGES))
    made = await raw.ok("POST configmaps", config_map())
    again = await raw.ok("PATCH configmaps/a", {"data": {"a": "c"}}, patch="merge")
    assert again["data"] == {"a": "b"}
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_a_dry_run_shows_what_webhooks_would_make_of_it(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", step(1)))
    made = await raw.ok("POST configmaps?dryRun=All", config_map())
    assert made["data"] == {"step1": "0"}
    assert (await raw("GET configmaps/a")).code == 404


# The second round


def counting(name: str) -> Says:
    """Counts how often the webhook was asked about the object."""

    def says(request: Thing) -> Thing:
        data = request["object"].get("data", {})
        return patched(add("/data", {**data, name: str(int(data.get(name, "0")) + 1)}))(request)

    return says


@pytest.mark.parametrize(("policy", "times"), [("IfNeeded", 2), ("Never", 1)])
async def test_who_saw_an_object_before_it_was_changed_is_asked_again(
    raw: Raw, webhooks: Webhooks, policy: str, times: int
) -> None:
    first = webhooks.webhook("first", reinvocationPolicy=policy)
    second = webhooks.webhook("second", patched(add("/data", {"a": "b"})), reinvocationPolicy=policy)
    await webhooks.install("Mutating", first, second)
    await raw.ok("POST configmaps", config_map())
    assert [name for name, _ in webhooks.asked] == ["first", "second", "first"][: times + 1]
    if times == 2:
        assert webhooks.requests("first")[1]["object"]["data"] == {"a": "b"}


@pytest.mark.parametrize(("policy", "seen"), [("IfNeeded", [1, 2]), ("Never", [1])])
async def test_and_so_is_who_changed_it_last_if_a_plugin_adds_to_that(
    raw: Raw, webhooks: Webhooks, policy: str, seen: list[int]
) -> None:
    limits = {"limits": [{"type": "Container", "default": {"cpu": "500m"}}]}
    await raw.ok("POST limitranges", {"metadata": {"name": "limits"}, "spec": limits})
    second = {"name": "second", "image": "nginx"}

    def says(request: Thing) -> Thing:
        once = len(request["object"]["spec"]["containers"]) == 1
        return patched(*([add("/spec/containers/-", second)] if once else []))(request)

    await webhooks.install("Mutating", webhooks.webhook("m", says, rule=PODS, reinvocationPolicy=policy))
    await raw.ok("POST pods", pod())
    limited = [
        [each["resources"]["limits"] for each in request["object"]["spec"]["containers"]]
        for _, request in webhooks.asked
    ]
    assert limited == [[{"cpu": "500m"}] * number for number in seen]


async def test_nobody_is_asked_a_third_time(raw: Raw, webhooks: Webhooks) -> None:
    hooks = [webhooks.webhook(name, counting(name), reinvocationPolicy="IfNeeded") for name in ("one", "two")]
    await webhooks.install("Mutating", *hooks)
    made = await raw.ok("POST configmaps", config_map())
    assert made["data"] == {"one": "2", "two": "2"}


async def test_who_was_not_asked_the_first_time_is_not_asked_the_second(raw: Raw, webhooks: Webhooks) -> None:
    selector = {"matchLabels": {"late": "yes"}}
    first = webhooks.webhook("first", reinvocationPolicy="IfNeeded", objectSelector=selector)
    second = webhooks.webhook("second", patched(add("/metadata/labels", {"late": "yes"})))
    await webhooks.install("Mutating", first, second)
    await raw.ok("POST configmaps", config_map())
    assert [name for name, _ in webhooks.asked] == ["second"]


async def test_labels_that_a_webhook_adds_count_for_the_next(raw: Raw, webhooks: Webhooks) -> None:
    selector = {"matchLabels": {"early": "yes"}}
    first = webhooks.webhook("first", patched(add("/metadata/labels", {"early": "yes"})))
    second = webhooks.webhook("second", objectSelector=selector)
    await webhooks.install("Mutating", first, second)
    await raw.ok("POST configmaps", config_map())
    assert [name for name, _ in webhooks.asked] == ["first", "second"]


async def test_a_patch_without_effect_asks_nobody_again(raw: Raw, webhooks: Webhooks) -> None:
    first = webhooks.webhook("first", reinvocationPolicy="IfNeeded")
    second = webhooks.webhook("second", patched({"op": "replace", "path": "/metadata/name", "value": "a"}))
    await webhooks.install("Mutating", first, second)
    await raw.ok("POST configmaps", config_map())
    assert [name for name, _ in webhooks.asked] == ["first", "second"]


# Dry runs


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
async def test_a_webhook_without_side_effects_is_asked_in_a_dry_run(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    hooks = [webhooks.webhook("a", allowed), webhooks.webhook("b", allowed, sideEffects="NoneOnDryRun")]
    await webhooks.install(kind, *hooks)
    await raw.ok("POST configmaps?dryRun=All", config_map())
    assert sorted(name for name, _ in webhooks.asked) == ["a", "b"]


# At the same time


async def test_who_overtakes_a_write_is_asked_about_again(raw: Raw, webhooks: Webhooks) -> None:
    """While a webhook thinks about a patch, somebody else writes: the patch is tried again on what is there then."""
    await raw.ok("POST configmaps", config_map())
    values: list[str] = []

    def says(request: Thing) -> Thing:
        values.append(request["oldObject"].get("data", {}).get("other", ""))
        return {"allowed": True}

    async def overtaken(request: Thing) -> Thing:
        if request["object"].get("data", {}).get("mine") and len(values) == 0:
            says(request)
            await raw.ok("PATCH configmaps/a", {"data": {"other": "x"}}, patch="merge")
            return {"allowed": True}
        return says(request) if request["object"].get("data", {}).get("mine") else {"allowed": True}

    hook = webhooks.webhook("h", overtaken, rule={"operations": ["UPDATE"]})
    await webhooks.install("Validating", hook)
    patched_ = await raw.ok("PATCH configmaps/a", {"data": {"mine": "y"}}, patch="merge")
    assert patched_["data"] == {"mine": "y", "other": "x"}
    assert values == ["", "x"]


async def test_a_new_object_that_is_renamed_is_asked_about_by_the_name_that_was_sent(
    raw: Raw, webhooks: Webhooks
) -> None:
    await webhooks.install("Mutating", webhooks.webhook("m", patched(add("/metadata/name", "b"))), name="m")
    await webhooks.install("Validating", webhooks.webhook("v"), name="v")
    webhooks.asked.clear()
    assert (await raw.ok("POST configmaps", config_map("a")))["metadata"]["name"] == "b"
    asked = [(request["name"], request["object"]["metadata"]["name"]) for _, request in webhooks.asked]
    assert asked == [("a", "a"), ("a", "b")]
