"""MutatingAdmissionPolicies: what they make of objects, and in which words they fail."""

import pytest

from conformance.objects import config_map, deployment, pod
from conformance.policies import REGISTRATION, Thing, match, mutating, rule, until, within
from conformance.requests import Raw, Refused

TRY = "POST configmaps?dryRun=All"
DEPLOYMENTS = match(rule("deployments", "CREATE", "UPDATE", group="apps"))


def configured(expression: str) -> Thing:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patched(expression: str) -> Thing:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def refused(name: str, why: str, *, about: str = "configmaps a") -> Refused:
    told = f"policy '{name}' with binding '{name}' denied request: {why}"
    return Refused(403, "Invalid", told, about, [""])


MARK = configured("Object{metadata: Object.metadata{labels: {'marked': 'yes'}}}")


async def test_an_object_is_laid_over_the_new_one(raw: Raw) -> None:
    await mutating(raw, {"mutations": [MARK]})
    made = (await until(raw, TRY, config_map(metadata={"labels": {"app": "web"}}), "marked")).json
    assert made["metadata"]["labels"] == {"app": "web", "marked": "yes"}
    stored = await raw.ok("POST configmaps", config_map())
    assert stored["metadata"]["labels"] == {"marked": "yes"}
    assert "managedFields" not in stored["metadata"]  # nobody owns what a policy says


async def test_fields_deep_inside_are_set(raw: Raw) -> None:
    expression = """Object{spec: Object.spec{replicas: 3,
        template: Object.spec.template{spec: Object.spec.template.spec{
        containers: [Object.spec.template.spec.containers{name: 'main', imagePullPolicy: 'Never'},
                     Object.spec.template.spec.containers{name: 'side', image: 'busybox'}]}}}}"""
    await mutating(raw, {"matchConstraints": DEPLOYMENTS, "mutations": [configured(expression)]})
    made = (await until(raw, "POST deployments?dryRun=All", deployment(), "busybox")).json
    assert made["spec"]["replicas"] == 3
    first, second = made["spec"]["template"]["spec"]["containers"]
    assert (first["name"], first["image"], first["imagePullPolicy"]) == ("main", "nginx", "Never")
    assert (second["name"], second["image"], second["imagePullPolicy"]) == ("side", "busybox", "Always")


async def test_an_optional_field_may_be_left_out(raw: Raw) -> None:
    expression = "Object{metadata: Object.metadata{labels: {'marked': 'yes'}, ?annotations: object.?data.?notes}}"
    await mutating(raw, {"mutations": [configured(expression)]})
    made = (await until(raw, TRY, config_map(), "marked")).json
    assert "annotations" not in made["metadata"]


@pytest.mark.parametrize(
    ("expression", "labels"),
    [
        ("[JSONPatch{op: 'add', path: '/metadata/labels/b', value: 'x'}]", {"app": "web", "b": "x"}),
        ("[JSONPatch{op: 'replace', path: '/metadata/labels/app', value: 'b'}]", {"app": "b"}),
        (
            "[JSONPatch{op: 'copy', from: '/metadata/labels/app', path: '/metadata/labels/b'}]",
            {"app": "web", "b": "web"},
        ),
        ("[JSONPatch{op: 'move', from: '/metadata/labels/app', path: '/metadata/labels/b'}]", {"b": "web"}),
        ("[JSONPatch{op: 'add', path: '/metadata/labels', value: {'b': 'x'}}]", {"b": "x"}),
        (
            "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c'), value: 'x'}]",
            {"app": "web", "a.b/c": "x"},
        ),
        (
            (
                "[JSONPatch{op: 'test', path: '/metadata/labels/app', value: 'web'},"
                " JSONPatch{op: 'add', path: '/metadata/labels/b', value: 'x'}]"
            ),
            {"app": "web", "b": "x"},
        ),
        (
            "object.metadata.labels.map(key, JSONPatch{op: 'add', path: '/metadata/labels/' + key + '2', value: 'x'})",
            {"app": "web", "app2": "x"},
        ),
    ],
)
async def test_an_object_is_patched(raw: Raw, expression: str, labels: Thing) -> None:
    note = "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'noted': 'yes'}}]"
    await mutating(raw, {"mutations": [patched(expression), patched(note)]})
    made = (await until(raw, TRY, config_map(metadata={"labels": {"app": "web"}}), "noted")).json
    assert made["metadata"]["labels"] == labels


async def test_a_patch_whose_test_fails_changes_nothing(raw: Raw) -> None:
    expression = (
        "[JSONPatch{op: 'add', path: '/data', value: {'a': 'b'}}, JSONPatch{op: 'test', path: '/kind', value: 'x'}]"
    )
    await mutating(raw, {"mutations": [patched(expression), MARK]})
    made = (await until(raw, TRY, config_map(), "marked")).json
    assert "data" not in made


async def test_a_patch_may_have_a_whole_object_for_its_value(raw: Raw) -> None:
    context = "Object.spec.template.spec.securityContext{runAsUser: 5, fsGroupChangePolicy: 'OnRootMismatch'}"
    expression = f"[JSONPatch{{op: 'add', path: '/spec/template/spec/securityContext', value: {context}}}]"
    await mutating(raw, {"matchConstraints": DEPLOYMENTS, "mutations": [patched(expression)]})
    made = (await until(raw, "POST deployments?dryRun=All", deployment(), "OnRootMismatch")).json
    stated = {"runAsUser": 5, "fsGroupChangePolicy": "OnRootMismatch"}
    assert made["spec"]["template"]["spec"]["securityContext"] == stated


async def test_each_mutation_sees_what_those_before_it_did(raw: Raw) -> None:
    second = configured("Object{data: {'saw': object.metadata.labels.marked}}")
    await mutating(raw, {"mutations": [MARK, second]})
    made = (await until(raw, TRY, config_map(), "saw")).json
    assert made["data"] == {"saw": "yes"}


async def test_variables_conditions_and_parameters_count(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("params", data={"color": "red"}))
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConditions": [{"name": "marked", "expression": "object.metadata.name.startsWith('m')"}],
        "variables": [{"name": "color", "expression": "params.data.color"}],
        "mutations": [configured("Object{data: {'color': string(variables.color), 'by': request.userInfo.username}}")],
    }
    await mutating(raw, spec, {"paramRef": {"name": "params", "parameterNotFoundAction": "Deny"}})
    made = (await until(raw, TRY, config_map("m"), "admin")).json
    assert made["data"] == {"color": "red", "by": "admin"}
    assert "data" not in await raw.ok(TRY, config_map())


async def test_an_update_is_changed_too(raw: Raw) -> None:
    expression = "Object{spec: Object.spec{replicas: oldObject == null ? 1 : 5}}"
    await mutating(raw, {"matchConstraints": DEPLOYMENTS, "mutations": [configured(expression), MARK]})
    await until(raw, "POST deployments?dryRun=All", deployment(), "marked")
    made = await raw.ok("POST deployments", deployment(replicas=2))
    assert made["spec"]["replicas"] == 1
    changed = await raw.ok("PATCH deployments/web", {"spec": {"paused": True}}, patch="merge")
    assert (changed["spec"]["replicas"], changed["metadata"]["generation"]) == (5, 2)


async def test_what_a_policy_makes_is_still_checked(raw: Raw) -> None:
    expression = "Object{spec: Object.spec{replicas: -1}}"
    await mutating(raw, {"matchConstraints": DEPLOYMENTS, "mutations": [configured(expression)]})
    answer = await until(raw, "POST deployments?dryRun=All", deployment(), "must be greater")
    why = "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    assert answer.refusal.message == f'Deployment.apps "web" is invalid: {why}'


@pytest.mark.usefixtures("crds")
async def test_custom_objects_are_changed(raw: Raw) -> None:
    constraints = match(rule("gadgets", group="conformance.windvane.dev"))
    mutations = [configured("Object{spec: Object.spec{color: 'green'}}"), MARK]
    await mutating(raw, {"matchConstraints": constraints, "mutations": mutations})
    gadget = {"apiVersion": "conformance.windvane.dev/v1", "kind": "Gadget", "metadata": {"name": "g"}}
    made = (await until(raw, "POST gadgets?dryRun=All", {**gadget, "spec": {"size": 3}}, "marked")).json
    assert made["spec"]["color"] == "green"


@pytest.mark.parametrize(
    ("mutation", "why"),
    [
        (
            configured("Object{data: {'a': object.data.nothing}}"),
            "expression 'Object{data: {'a': object.data.nothing}}' resulted in error: no such key: data",
        ),
        (
            configured("Object{data: Object.wrong{}}"),
            (
                'type mismatch: unexpected type name "Object.wrong", expected "Object.data", which matches field name '
                "path from root Object type"
            ),
        ),
        (
            configured("Object{nothing: 1}"),
            (
                "error applying patch: failed to convert patch object to typed object: .nothing: field not declared in "
                "schema"
            ),
        ),
        (
            configured("Object{data: {'a': 1}}"),
            (
                "error applying patch: failed to convert patch object to typed object: .data.a: expected string, got "
                "&value.valueUnstructured{Value:1}"
            ),
        ),
        (
            configured("Object{metadata: Object.metadata{labels: null}}"),
            (
                "error applying patch: failed to convert patch object to typed object: .metadata.labels: expected map, "
                "got &{NULL_VALUE}"
            ),
        ),
        (
            configured("Object{metadata: Object.metadata{finalizers: [null]}}"),
            (
                "error applying patch: failed to convert patch object to typed object: "
                ".metadata.finalizers[={{undefined}}]: expected string, got &value.valueUnstructured{Value:0}"
            ),
        ),
        (
            patched("[JSONPatch{op: 'remove', path: '/data/a'}]"),
            'JSON Patch: remove operation does not apply: doc is missing path: "/data/a": missing value',
        ),
        (
            patched("[JSONPatch{op: 'dance', path: '/data/a'}]"),
            "JSON Patch: Unexpected kind: dance",
        ),
    ],
)
async def test_what_can_not_be_done_is_refused(raw: Raw, mutation: Thing, why: str) -> None:
    name = await mutating(raw, {"mutations": [mutation]})
    answer = await until(raw, TRY, config_map(), "denied")
    assert answer.refusal == refused(name, why)


async def test_what_is_replaced_as_a_whole_can_not_be_set(raw: Raw) -> None:
    expression = """Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
        containers: [Object.spec.template.spec.containers{name: 'main', args: ['a']}], nodeSelector: {'a': 'b'}}}}}"""
    name = await mutating(raw, {"matchConstraints": DEPLOYMENTS, "mutations": [configured(expression)]})
    answer = await until(raw, "POST deployments?dryRun=All", deployment(), "denied")
    told = "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs"
    assert answer.refusal.message.startswith(f"policy '{name}' with binding '{name}' denied request: {told}: ")
    places = answer.refusal.message.partition(f"{told}: ")[2].split(", ")
    path = ".spec.template.spec"
    assert sorted(places) == [f"{path}.containers[0].args", f"{path}.nodeSelector"]


async def test_a_policy_that_ignores_errors_changes_what_it_can(raw: Raw) -> None:
    broken = configured("Object{data: {'a': object.data.nothing}}")
    await mutating(raw, {"failurePolicy": "Ignore", "mutations": [broken, MARK]})
    made = (await until(raw, TRY, config_map(), "marked")).json
    assert "data" not in made


async def test_parameters_that_are_not_there_refuse_the_request(raw: Raw) -> None:
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": match(rule("secrets"), **within(raw)),
        "mutations": [MARK],
    }
    name = await mutating(raw, spec, {"paramRef": {"name": "params", "parameterNotFoundAction": "Deny"}})
    answer = await until(raw, "POST secrets?dryRun=All", config_map(), "no params found")
    why = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    told = f"policy '{name}' with binding '{name}' denied request: {why}"
    assert answer.refusal == Refused(403, "Forbidden", told, "secrets a", [""])
    unknown = {**spec, "paramKind": {"apiVersion": "nowhere.windvane.dev/v1", "kind": "Nothing"}}
    await raw.ok(f"DELETE {REGISTRATION}/mutatingadmissionpolicies/{name}")
    name = await mutating(raw, unknown, {"paramRef": {"name": "params", "parameterNotFoundAction": "Deny"}})
    answer = await until(raw, "POST secrets?dryRun=All", config_map(), name)
    kind = "nowhere.windvane.dev/v1, Kind=Nothing"
    why = f"failed to configure policy: failed to find resource referenced by paramKind: '{kind}'"
    assert answer.refusal == Refused(403, "Forbidden", f'policy "{name}" denied request: {why}', "secrets a", [""])


def counting(label: str) -> Thing:
    """A mutation that counts in a label how often it was done."""
    number = f"(has(object.metadata.labels) && '{label}' in object.metadata.labels"
    value = f"{number} ? string(int(object.metadata.labels['{label}']) + 1) : '1')"
    return configured(f"Object{{metadata: Object.metadata{{labels: {{'{label}': {value}}}}}}}")


@pytest.mark.parametrize(("again", "times"), [("IfNeeded", "2"), ("Never", "1")])
async def test_a_policy_may_want_to_be_asked_again(raw: Raw, again: str, times: str) -> None:
    """There are two that change the object, so that each is news to the other, whichever comes first."""
    await mutating(raw, {"reinvocationPolicy": again, "mutations": [counting("a")]})
    await mutating(raw, {"reinvocationPolicy": again, "mutations": [counting("b")]})
    await until(raw, TRY, config_map(), '"b":')
    await until(raw, TRY, config_map(), '"a":')
    made = await raw.ok(TRY, config_map())
    assert made["metadata"]["labels"] == {"a": times, "b": times}


async def test_its_own_changes_are_a_reason_to_be_asked_again(raw: Raw) -> None:
    await mutating(raw, {"reinvocationPolicy": "IfNeeded", "mutations": [counting("a")]})
    await until(raw, TRY, config_map(), '"a":')
    assert (await raw.ok(TRY, config_map()))["metadata"]["labels"] == {"a": "2"}


async def test_a_pod_is_changed_before_it_is_looked_at(raw: Raw) -> None:
    constraints = match(rule("pods"))
    expression = "Object{spec: Object.spec{terminationGracePeriodSeconds: 5}}"
    await mutating(raw, {"matchConstraints": constraints, "mutations": [configured(expression), MARK]})
    made = (await until(raw, "POST pods?dryRun=All", pod(), "marked")).json
    assert made["spec"]["terminationGracePeriodSeconds"] == 5


SCALE = {"metadata": {"name": "web"}, "spec": {"replicas": 4}}
SCALES = match(rule("deployments/scale", "UPDATE", group="apps"))


async def test_a_scale_is_changed_on_its_way(raw: Raw) -> None:
    mutation = patched("[JSONPatch{op: 'add', path: '/spec/replicas', value: object.spec.replicas + 1}]")
    await mutating(raw, {"matchConstraints": SCALES, "mutations": [mutation]})
    await raw.ok("POST deployments", deployment(replicas=1))
    await until(raw, "PUT deployments/web/scale?dryRun=All", SCALE, '"replicas":5')
    await raw.ok("PUT deployments/web/scale", SCALE)
    assert (await raw.ok("GET deployments/web"))["spec"]["replicas"] == 5


async def test_nothing_can_be_laid_over_a_scale(raw: Raw) -> None:
    spec = {"matchConstraints": SCALES, "mutations": [configured("Object{spec: Object.spec{replicas: 5}}")]}
    name = await mutating(raw, spec)
    await raw.ok("POST deployments", deployment(replicas=1))
    answer = await until(raw, "PUT deployments/web/scale?dryRun=All", SCALE, "denied")
    why = "failed to convert patch object to typed object: no corresponding type for autoscaling/v1, Kind=Scale"
    assert answer.refusal == refused(name, f"error applying patch: {why}", about="deployments.apps web")


async def test_a_status_is_changed_on_its_way(raw: Raw) -> None:
    constraints = match(rule("deployments/status", "UPDATE", group="apps"))
    mutations = [configured("Object{status: Object.status{replicas: object.status.replicas + 1}}")]
    await mutating(raw, {"matchConstraints": constraints, "mutations": mutations})
    await raw.ok("POST deployments", deployment(replicas=1))
    change = {"status": {"replicas": 4}}
    answer = await until(raw, "PATCH deployments/web/status?dryRun=All", change, '"replicas":5', patch="merge")
    assert answer.json["spec"]["replicas"] == 1


async def test_an_applied_object_is_changed_and_owned_by_who_applied_it(raw: Raw) -> None:
    await mutating(raw, {"matchConstraints": DEPLOYMENTS, "mutations": [MARK]})
    await until(raw, "POST deployments?dryRun=All", deployment("other"), "marked")
    applied = {"apiVersion": "apps/v1", "kind": "Deployment", **deployment(replicas=2)}
    made = await raw.ok("PATCH deployments/web?fieldManager=me", applied, patch="apply")
    assert made["metadata"]["labels"] == {"marked": "yes"}
    [entry] = made["metadata"]["managedFields"]
    assert (entry["manager"], "f:metadata" in entry["fieldsV1"]) == ("me", False)
    again = await raw.ok("PATCH deployments/web?fieldManager=me", applied, patch="apply")
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (
            "op: 'replace', path: '/metadata', value: 1",
            "json: cannot unmarshal number into Go struct field ConfigMap.metadata of type v1.ObjectMeta",
        ),
        (
            "op: 'add', path: '/data', value: [1]",
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            "op: 'add', path: '/data', value: {'a': 1}",
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        ("op: 'add', path: '/nothing', value: 1", 'strict decoding error: unknown field "nothing"'),
        (
            "op: 'replace', path: '/kind', value: 'Secret'",
            "failed to convert object: converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        ),
        (
            "op: 'replace', path: '', value: [1]",
            (
                "couldn't get version/kind; json parse error: "
                "json: cannot unmarshal array into Go value of type struct { "
                r'APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
            ),
        ),
    ],
)
async def test_what_is_no_object_of_its_kind_any_more_is_an_error(raw: Raw, operation: str, why: str) -> None:
    await mutating(raw, {"failurePolicy": "Ignore", "mutations": [patched(f"[JSONPatch{{{operation}}}]")]})
    answer = await until(raw, TRY, config_map(), "Internal error")
    message = f"Internal error occurred: {why}"
    assert (answer.code, answer.refusal.reason, answer.refusal.message) == (500, "InternalError", message)


async def test_what_makes_no_sense_for_the_request_is_refused_as_usual(raw: Raw) -> None:
    mutation = patched("[JSONPatch{op: 'add', path: '/metadata/namespace', value: 'kube-system'}]")
    await mutating(raw, {"mutations": [mutation]})
    answer = await until(raw, TRY, config_map(), "BadRequest")
    why = "the namespace of the provided object does not match the namespace sent on the request"
    assert (answer.code, answer.refusal.message) == (400, why)
