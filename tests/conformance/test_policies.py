"""ValidatingAdmissionPolicies: what they refuse, in which words, and what they see."""

from typing import Any

import pytest

from conformance.objects import config_map, deployment, pod
from conformance.policies import CONFIG_MAPS, REGISTRATION, Thing, match, rule, until, validating, validation, within
from conformance.requests import Raw, Refused
from conformance.servers import Server

TRY = "POST configmaps?dryRun=All"
ASKED = ("authorization.k8s.io", "authentication.k8s.io")
NOT_A = validation("object.metadata.name != 'a'")


def refused(
    name: str, why: str, *, code: int = 422, reason: str = "Invalid", binding: str = "", what: str = ""
) -> Refused:
    told = f"ValidatingAdmissionPolicy '{name}' with binding '{binding or name}' denied request: {why}"
    what = what or 'configmaps "a"'
    kind, _, called = what.replace('"', "").partition(" ")
    return Refused(code, reason, f"{what} is forbidden: {told}", f"{kind} {called}", [""])


async def test_what_an_expression_does_not_hold_for_is_refused(raw: Raw) -> None:
    name = await validating(raw, {"validations": [NOT_A]})
    answer = await until(raw, TRY, config_map(), "denied")
    assert answer.refusal == refused(name, "failed expression: object.metadata.name != 'a'")
    await raw.ok(TRY, config_map("b"))
    again = await raw("POST configmaps", config_map())
    assert again.refusal == answer.refusal


@pytest.mark.parametrize(
    ("stated", "why", "code", "reason"),
    [
        ({"message": " no a here "}, "no a here", 422, "Invalid"),
        ({"messageExpression": "'no ' + object.metadata.name + ' here'"}, "no a here", 422, "Invalid"),
        ({"messageExpression": "string(object.data.x)", "message": "no a"}, "no a", 422, "Invalid"),
        ({"messageExpression": "'a\\nb'", "message": "no a"}, "no a", 422, "Invalid"),
        ({"messageExpression": "' '"}, "failed expression: object.metadata.name != 'a'", 422, "Invalid"),
        ({"message": "no a", "reason": "Forbidden"}, "no a", 403, "Forbidden"),
        ({"message": "no a", "reason": "RequestEntityTooLarge"}, "no a", 413, "RequestEntityTooLarge"),
    ],
)
async def test_a_refusal_says_what_the_policy_says(raw: Raw, stated: Thing, why: str, code: int, reason: str) -> None:
    name = await validating(raw, {"validations": [{**NOT_A, **stated}]})
    answer = await until(raw, TRY, config_map(), "denied")
    assert answer.refusal == refused(name, why, code=code, reason=reason)


async def test_of_several_that_do_not_hold_the_first_is_told(raw: Raw) -> None:
    spec = {"validations": [validation("true"), {**NOT_A, "message": "one"}, {**NOT_A, "message": "two"}]}
    name = await validating(raw, spec)
    answer = await until(raw, TRY, config_map(), "denied")
    assert answer.refusal == refused(name, "one")


SEEN = [
    "object.apiVersion == 'v1' && object.kind == 'ConfigMap'",
    "object.data.one == '1' && !has(object.data.two)",
    "oldObject == null",
    "request.operation == 'CREATE'",
    "request.kind.kind == 'ConfigMap' && request.kind.group == '' && request.kind.version == 'v1'",
    "request.resource.resource == 'configmaps' && request.requestResource.resource == 'configmaps'",
    "request.requestKind == request.kind",
    "!has(request.subResource)",
    "request.name == 'a' && request.namespace == object.metadata.namespace",
    "request.userInfo.username == 'admin' && 'system:masters' in request.userInfo.groups",
    "request.dryRun",
    "request.options.kind == 'CreateOptions' && request.options.apiVersion == 'meta.k8s.io/v1'",
    "request.options.dryRun == ['All']",
    "namespaceObject.metadata.name == object.metadata.namespace",
    "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == request.namespace",
    "namespaceObject.status.phase == 'Active'",
    "namespaceObject.spec.finalizers == ['kubernetes']",
    "variables.one + 1 == 2",
    "variables.names.all(each, each.startsWith('o'))",
    "authorizer.group('').resource('configmaps').namespace('x').name('y').check('get').allowed()",
    "authorizer.requestResource.check('create').allowed()",
    "!authorizer.serviceAccount('default', 'default').path('/metrics').check('get').allowed()",
    "authorizer.path('/healthz').check('get').allowed()",
    "authorizer.path('/healthz').check('get').reason() == ''",
    "!authorizer.path('/healthz').check('get').errored() && authorizer.path('/x').check('get').error() == ''",
    "object.metadata.managedFields.size() == 1",
]


@pytest.mark.parametrize("expression", SEEN)
async def test_this_holds_for_a_new_object(raw: Raw, expression: str) -> None:
    variables = [
        {"name": "one", "expression": "int(object.data.one)"},
        {"name": "names", "expression": "object.data.map(key, key)"},
    ]
    await validating(raw, {"variables": variables, "validations": [validation(f"!({expression})", message="so it is")]})
    await until(raw, TRY, config_map(data={"one": "1"}), "so it is")


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("object.data.one == 1", "no such key: data"),
        ("oldObject.data == {}", "no such key: data"),
        ("object.metadata.name < 1", "no such overload"),
        ("object.metadata.name.nothing == 1", "no such key: nothing"),
        ("object.metadata[0] == 1", "no such key: 0"),
        ("request.subResource == ''", "no such key: subResource"),
        ("variables.broken", 'composited variable "broken" fails to evaluate: division by zero'),
        ("1 / int(object.metadata.name) == 1", "type conversion error from 'string' to 'int'"),
        ("object.metadata.ownerReferences[5].name == ''", "index out of bounds: 5"),
        (
            " && ".join(["authorizer.requestResource.check('get').allowed()"] * 3),
            "operation cancelled: actual cost limit exceeded",
        ),
    ],
)
async def test_what_can_not_be_decided_is_refused(raw: Raw, expression: str, error: str) -> None:
    variables = [{"name": "broken", "expression": "1 / 0 == 1"}]
    name = await validating(raw, {"variables": variables, "validations": [validation(expression, reason="Forbidden")]})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "1"}
    answer = await until(raw, TRY, config_map(metadata={"ownerReferences": [owner]}), "denied")
    assert answer.refusal == refused(name, f"expression '{expression}' resulted in error: {error}")


async def test_what_can_not_be_decided_is_let_pass_by_a_policy_that_ignores_errors(raw: Raw) -> None:
    validations = [validation("object.data.one == 1"), validation("object.metadata.name != 'marker'")]
    await validating(raw, {"failurePolicy": "Ignore", "validations": validations})
    await until(raw, TRY, config_map("marker"), "denied")
    await raw.ok(TRY, config_map())


async def test_all_validations_together_may_not_cost_too_much(raw: Raw) -> None:
    expensive = f"!object.data.text.matches('{'x' * 400}')"  # no work to speak of, but priced by the length of both
    validations = [validation(expensive) for _ in range(12)]
    name = await validating(raw, {"validations": validations})
    answer = await until(raw, TRY, config_map(data={"text": "x" * 10 + "y" * 99_990}), "denied")
    why = "validation failed due to running out of cost budget, no further validation rules will be run"
    assert answer.refusal == refused(name, why)


# Which requests a policy is about.


@pytest.mark.parametrize(
    ("constraints", "other"),
    [
        (match(CONFIG_MAPS, objectSelector={"matchLabels": {"app": "web"}}), config_map()),
        (match(rule("configmaps", resourceNames=["marked"])), config_map("other", metadata={"labels": {"app": "web"}})),
        (
            match(rule("*"), excludeResourceRules=[rule("configmaps", resourceNames=["a"])]),
            config_map(metadata={"labels": {"app": "web"}}),
        ),
        (match(rule("configmaps", scope="Namespaced"), objectSelector={"matchLabels": {"app": "web"}}), config_map()),
    ],
)
async def test_a_policy_is_about_what_it_matches(raw: Raw, constraints: Thing, other: Thing) -> None:
    await validating(raw, {"matchConstraints": constraints, "validations": [validation("false")]})
    await until(raw, TRY, config_map("marked", metadata={"labels": {"app": "web"}}), "denied")
    await raw.ok(TRY, other)


async def test_a_condition_that_is_not_met_leaves_the_policy_out(raw: Raw) -> None:
    conditions = [
        {"name": "marked", "expression": "object.metadata.name.startsWith('m')"},
        {"name": "broken", "expression": "object.metadata.name != 'm-broken' || object.data.nothing == 'x'"},
    ]
    name = await validating(raw, {"matchConditions": conditions, "validations": [validation("false")]})
    answer = await until(raw, TRY, config_map("m"), "denied")
    assert answer.refusal == refused(name, "failed expression: false", what='configmaps "m"')
    await raw.ok(TRY, config_map())
    broken = await raw(TRY, config_map("m-broken"))
    why = f"expression '{conditions[1]['expression']}' resulted in error: no such key: data"
    assert broken.refusal == refused(name, why, what='configmaps "m-broken"')


async def test_an_update_is_seen_with_what_was_before(raw: Raw) -> None:
    constraints = match(rule("configmaps", "UPDATE"))
    expression = "object.data.size == oldObject.data.size"
    name = await validating(raw, {"matchConstraints": constraints, "validations": [validation(expression)]})
    await raw.ok("POST configmaps", config_map(data={"size": "1"}))
    answer = await until(raw, "PUT configmaps/a?dryRun=All", config_map(data={"size": "2"}), "denied")
    assert answer.refusal == refused(name, f"failed expression: {expression}")
    assert (await raw("PATCH configmaps/a", {"data": {"size": "3"}}, patch="merge")).refusal == answer.refusal
    applied = {"apiVersion": "v1", "kind": "ConfigMap", **config_map(data={"size": "4"})}
    forced = await raw("PATCH configmaps/a?fieldManager=me&force=true", applied, patch="apply")
    assert forced.refusal == answer.refusal
    await raw.ok("PUT configmaps/a", config_map(data={"size": "1", "color": "red"}))


async def test_a_deletion_is_seen_without_a_new_object(raw: Raw) -> None:
    constraints = match(rule("configmaps", "DELETE"))
    validations = [validation("object != null || oldObject.data.keep != 'yes'", message="it is kept")]
    name = await validating(raw, {"matchConstraints": constraints, "validations": validations})
    await raw.ok("POST configmaps", config_map(data={"keep": "yes"}))
    await raw.ok("POST configmaps", config_map("b", data={"keep": "no"}))
    answer = await until(raw, "DELETE configmaps/a?dryRun=All", None, "denied")
    assert answer.refusal == refused(name, "it is kept")
    await raw.ok("DELETE configmaps/b")


async def test_a_subresource_is_seen_as_what_is_sent_to_it(raw: Raw) -> None:
    constraints = match(rule("deployments/scale", "UPDATE", group="apps"))
    expressions = ["object.kind == 'Scale'", "request.subResource == 'scale'", "request.kind.group == 'autoscaling'"]
    validations = [*map(validation, expressions), validation("object.spec.replicas <= 3", message="too many")]
    name = await validating(raw, {"matchConstraints": constraints, "validations": validations})
    await raw.ok("POST deployments", deployment())
    scale: Any = {"metadata": {"name": "web"}, "spec": {"replicas": 4}}
    answer = await until(raw, "PUT deployments/web/scale?dryRun=All", scale, "denied")
    assert answer.refusal == refused(name, "too many", what='deployments.apps "web"')
    await raw.ok("PUT deployments/web/scale", {**scale, "spec": {"replicas": 3}})


async def test_a_token_that_is_requested_is_seen_with_its_usual_life(raw: Raw) -> None:
    lasts = validation("false", messageExpression="'lasts ' + string(object.spec.expirationSeconds)")
    constraints = match(rule("serviceaccounts/token"))
    await validating(raw, {"matchConstraints": constraints, "validations": [lasts]})
    await raw.ok("POST serviceaccounts", {"metadata": {"name": "robot"}})
    await until(raw, "POST serviceaccounts/robot/token", {}, "lasts 3600")


@pytest.mark.parametrize(("node", "query", "seconds"), [("", "", 0), ("n", "", 30), ("n", "gracePeriodSeconds=5&", 5)])
async def test_a_pod_that_shall_go_is_seen_with_the_time_it_has(raw: Raw, node: str, query: str, seconds: int) -> None:
    told = validation("false", messageExpression="'has ' + string(request.options.gracePeriodSeconds)")
    await validating(raw, {"matchConstraints": match(rule("pods", "DELETE")), "validations": [told]})
    await raw.ok("POST pods", pod(nodeName=node))
    await until(raw, f"DELETE pods/p?{query}dryRun=All", None, f"has {seconds}")


async def test_a_policy_for_one_version_is_also_about_the_others(raw: Raw) -> None:
    constraints = match(rule("horizontalpodautoscalers", group="autoscaling"))
    validations = [validation("object.apiVersion != 'autoscaling/v1'"), validation("has(object.spec.metrics)")]
    name = await validating(raw, {"matchConstraints": constraints, "validations": validations})
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": cpu}]}
    wire = {"metadata": {"name": "a"}, "spec": spec}
    answer = await until(raw, "POST horizontalpodautoscalers?dryRun=All", wire, "denied")
    what = 'horizontalpodautoscalers.autoscaling "a"'
    assert answer.refusal == refused(name, "failed expression: object.apiVersion != 'autoscaling/v1'", what=what)


async def test_conditions_see_neither_the_namespace_nor_the_resource_that_is_meant(raw: Raw) -> None:
    conditions = ["namespaceObject == null", "request.kind.version == 'v1'", "request.resource.version == 'v2'"]
    seen = "string(namespaceObject != null) + ' ' + request.resource.version"
    spec = {
        "matchConstraints": match(rule("horizontalpodautoscalers", group="autoscaling")),
        "matchConditions": [{"name": f"c{index}", "expression": each} for index, each in enumerate(conditions)],
        "validations": [validation("false", messageExpression=seen)],
    }
    name = await validating(raw, spec)
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    wire = {"metadata": {"name": "a"}, "spec": {"scaleTargetRef": target, "maxReplicas": 3}}
    answer = await until(raw, "POST horizontalpodautoscalers?dryRun=All", wire, "denied")
    assert answer.refusal == refused(name, "true v1", what='horizontalpodautoscalers.autoscaling "a"')


async def test_a_name_that_is_still_to_be_made_is_not_known(raw: Raw) -> None:
    name = await validating(raw, {"validations": [validation("object.metadata.generateName != 'b-'")]})
    answer = await until(raw, TRY, {"metadata": {"generateName": "b-"}}, "denied")
    why = "failed expression: object.metadata.generateName != 'b-'"
    told = answer.refusal.message
    assert told.startswith('configmaps "b-')
    assert told.endswith(f"denied request: {why}")
    assert name in told


# Bindings.


async def test_a_binding_may_only_warn(raw: Raw) -> None:
    spec = {"validations": [{**NOT_A, "message": "one"}, {**NOT_A, "message": "two"}]}
    name = await validating(raw, spec, {"validationActions": ["Warn", "Audit"]})
    answer = await until(raw, TRY, config_map(), "Validation failed")
    told = f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{name}'"
    assert answer.code == 201
    assert answer.warnings == [f'299 - "{told}: one"', f'299 - "{told}: two"']


async def test_each_binding_acts_by_itself(raw: Raw) -> None:
    bindings = [{"validationActions": ["Warn"]}, {"validationActions": ["Deny"]}]
    name = await validating(raw, {"validations": [{**NOT_A, "message": "no"}]}, *bindings)
    answer = await until(raw, TRY, config_map(), "denied")
    told = f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{name}': no"
    assert (answer.refusal.message, answer.warnings) == (
        refused(name, "no").message.replace(f"binding '{name}'", f"binding '{name}-2'"),
        [f'299 - "{told}"'],
    )


async def test_policies_have_no_say_in_questions(raw: Raw) -> None:
    rules = [CONFIG_MAPS, *(rule("*", "*", group=group, version="*") for group in ASKED)]
    await validating(raw, {"matchConstraints": match(*rules), "validations": [validation("false")]})
    await until(raw, TRY, config_map("x"), "denied")
    named = {"resourceAttributes": {"namespace": raw.namespace, "verb": "get", "resource": "pods"}}
    authorization, authentication = (f"/apis/{group}/v1" for group in ASKED)
    for path, spec in (
        (f"{authorization}/namespaces/{{ns}}/localsubjectaccessreviews", {**named, "user": "a"}),
        (f"{authorization}/selfsubjectaccessreviews", named),
        (f"{authorization}/selfsubjectrulesreviews", {"namespace": raw.namespace}),
        (f"{authorization}/subjectaccessreviews", {**named, "user": "a"}),
        (f"{authentication}/selfsubjectreviews", {}),
        (f"{authentication}/tokenreviews", {"token": "x"}),
    ):
        answer = await raw(f"POST {path}", {"spec": spec})
        assert answer.code == 201, answer.body.decode()


async def test_a_policy_that_is_gone_refuses_nothing(raw: Raw) -> None:
    name = await validating(raw, {"validations": [NOT_A]})
    await until(raw, TRY, config_map(), "denied")
    await raw.ok(f"DELETE {REGISTRATION}/validatingadmissionpolicies/{name}")
    await until(raw, TRY, config_map(), '"kind":"ConfigMap"')


async def test_policies_have_no_say_in_policies(raw: Raw) -> None:
    rules = [rule("*", "*", group="admissionregistration.k8s.io", version="*"), CONFIG_MAPS]
    everywhere: Thing = {"matchResources": {"namespaceSelector": {}}}
    spec = {"matchConstraints": match(*rules), "validations": [validation("object.metadata.name != 'a-{ns}'")]}
    name = await validating(raw, spec, everywhere)
    await until(raw, TRY, config_map("a-{ns}"), "denied")
    policy = {"metadata": {"name": "a-{ns}"}, "spec": {"matchConstraints": match(), "validations": [NOT_A]}}
    await raw.ok(f"POST {REGISTRATION}/validatingadmissionpolicies", policy)
    await raw.ok(f"DELETE {REGISTRATION}/validatingadmissionpolicies/{name}")


# Parameters.

PARAMS: Thing = {"apiVersion": "v1", "kind": "ConfigMap"}
UP_TO: Thing = {
    "paramKind": PARAMS,
    "matchConstraints": match(rule("secrets")),
    "validations": [validation("size(object.metadata.name) <= int(params.data.most)", message="too long")],
}
SECRET = "POST secrets?dryRun=All"


def about(name: str) -> str:
    return f'secrets "{name}"'


async def test_a_policy_has_parameters(raw: Raw) -> None:
    reference = {"name": "limits", "parameterNotFoundAction": "Deny"}
    name = await validating(raw, UP_TO, {"paramRef": reference})
    answer = await until(raw, SECRET, config_map("abcd"), "no params found")  # before, it may not have looked yet
    none = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    assert answer.refusal == refused(name, none, what=about("abcd"))
    await raw.ok("POST configmaps", config_map("limits", data={"most": "3"}))
    answer = await until(raw, SECRET, config_map("abcd"), "too long")
    assert answer.refusal == refused(name, "too long", what=about("abcd"))
    await raw.ok(SECRET, config_map("abc"))


async def test_parameters_that_are_not_there_may_be_done_without(raw: Raw) -> None:
    reference = {"name": "limits", "parameterNotFoundAction": "Allow"}
    await validating(raw, UP_TO, {"paramRef": reference}, {})
    # The second binding has no reference, so that there is something to wait for: it is asked without parameters.
    answer = await until(raw, SECRET, config_map("abcd"), "no such key: data")
    assert "-2' denied request: expression" in answer.refusal.message
    assert answer.refusal.message.endswith("no such key: data")


async def test_all_parameters_that_a_selector_picks_are_tried(raw: Raw) -> None:
    reference = {"selector": {"matchLabels": {"for": "us"}}, "parameterNotFoundAction": "Deny"}
    for called, most, whom in (("a", "5", "us"), ("b", "3", "us"), ("c", "1", "them")):
        await raw.ok("POST configmaps", config_map(called, data={"most": most}, metadata={"labels": {"for": whom}}))
    name = await validating(raw, UP_TO, {"paramRef": reference})
    answer = await until(raw, SECRET, config_map("abcd"), "too long")
    assert answer.refusal == refused(name, "too long", what=about("abcd"))
    await raw.ok(SECRET, config_map("abc"))


async def test_parameters_may_be_in_another_namespace(raw: Raw) -> None:
    await raw.ok("POST /api/v1/namespaces/default/configmaps", config_map("limits-{ns}", data={"most": "3"}))
    reference = {"name": "limits-" + raw.namespace, "namespace": "default", "parameterNotFoundAction": "Deny"}
    name = await validating(raw, UP_TO, {"paramRef": reference})
    answer = await until(raw, SECRET, config_map("abcd"), "too long")
    assert answer.refusal == refused(name, "too long", what=about("abcd"))


async def test_parameters_of_a_kind_without_namespaces(raw: Raw) -> None:
    reference = {"name": raw.namespace, "parameterNotFoundAction": "Deny"}
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "Namespace"},
        "validations": [validation("params.kind != 'Namespace' || params.metadata.name != object.metadata.name")],
    }
    await validating(raw, spec, {"paramRef": reference})
    await until(raw, TRY, config_map("{ns}"), "denied")
    name = await validating(raw, spec, {"paramRef": {**reference, "namespace": "default"}})
    why = "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
    answer = await until(raw, TRY, config_map(), name)
    assert answer.refusal == refused(name, why)


async def test_what_is_in_no_namespace_has_no_parameters_there(raw: Raw) -> None:
    mine = rule("priorityclasses", group="scheduling.k8s.io", resourceNames=[raw.namespace])
    spec = {**UP_TO, "matchConstraints": match(mine)}
    name = await validating(raw, spec, {"paramRef": {"name": "p", "parameterNotFoundAction": "Allow"}})
    thing = {"metadata": {"name": raw.namespace}, "value": 1}
    answer = await until(raw, "POST /apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All", thing, "denied")
    why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
    what = f'priorityclasses.scheduling.k8s.io "{raw.namespace}"'
    assert answer.refusal == refused(name, f"failed to configure binding: {why}", what=what)


@pytest.mark.usefixtures("crds")
async def test_parameters_of_a_custom_kind(raw: Raw) -> None:
    gadget = {
        "apiVersion": "conformance.windvane.dev/v1",
        "kind": "Gadget",
        "metadata": {"name": "g"},
        "spec": {"size": 3},
    }
    await raw.ok("POST gadgets", gadget)
    spec = {
        **UP_TO,
        "paramKind": {"apiVersion": "conformance.windvane.dev/v1", "kind": "Gadget"},
        "validations": [validation("size(object.metadata.name) <= params.spec.size", message="too long")],
    }
    name = await validating(raw, spec, {"paramRef": {"name": "g", "parameterNotFoundAction": "Deny"}})
    answer = await until(raw, SECRET, config_map("abcd"), "too long")
    assert answer.refusal == refused(name, "too long", what=about("abcd"))
    await raw.ok(SECRET, config_map("abc"))


async def test_parameters_of_a_kind_that_is_not_there(raw: Raw) -> None:
    nothing = {"apiVersion": "nowhere.windvane.dev/v1", "kind": "Nothing"}
    spec = {**UP_TO, "paramKind": nothing, "matchConstraints": match(rule("secrets"), **within(raw))}
    name = await validating(raw, spec, {"paramRef": {"name": "g", "parameterNotFoundAction": "Deny"}})
    answer = await until(raw, SECRET, config_map(), "denied")
    kind = "nowhere.windvane.dev/v1, Kind=Nothing"
    why = f"failed to configure policy: failed to find resource referenced by paramKind: '{kind}'"
    told = f"secrets \"a\" is forbidden: ValidatingAdmissionPolicy '{name}' denied request: {why}"
    assert answer.refusal == Refused(422, "Invalid", told, "secrets a", [""])


async def test_an_ordinary_user_is_seen_as_such(raw: Raw, server: Server) -> None:
    role = {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]}
    await raw.ok("POST roles", role)
    subject = {"kind": "User", "name": "ordinary", "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
    await raw.ok("POST rolebindings", {"metadata": {"name": "r"}, "roleRef": reference, "subjects": [subject]})
    validations = [
        validation("authorizer.requestResource.check('create').allowed()", message="one"),
        validation("!authorizer.group('').resource('secrets').check('list').allowed()", message="two"),
        validation("request.userInfo.username != 'ordinary'", message="so it is"),
    ]
    await validating(raw, {"validations": validations})
    async with Raw(server.url, server.ca_file, server.user_token) as ordinary:
        ordinary.namespace = raw.namespace
        answer = await until(ordinary, TRY, config_map(), "denied")
    assert answer.refusal.message.endswith("denied request: so it is")


async def test_talking_to_a_pod_is_seen_as_its_options(raw: Raw) -> None:
    constraints = match(rule("pods/exec", "CONNECT"))
    expressions = ["object.kind == 'PodExecOptions'", "request.subResource == 'exec'", "oldObject == null"]
    validations = [*map(validation, expressions), validation("object.command != ['rm']", message="not that")]
    name = await validating(raw, {"matchConstraints": constraints, "validations": validations})
    await raw.ok("POST pods", pod())
    answer = await until(raw, "POST pods/p/exec?command=rm&stdout=true", None, "denied")
    assert answer.refusal == refused(name, "not that", what='pods "p"')


async def test_a_namespace_has_no_namespace(raw: Raw) -> None:
    constraints = match(rule("namespaces", "CREATE", "DELETE"), objectSelector={"matchLabels": {"for": "{ns}"}})
    validations = [
        validation("namespaceObject == null", message="one"),
        validation("request.operation == 'DELETE' || request.name == object.metadata.name", message="two"),
        validation("request.operation != 'CREATE' || object.metadata.name != 'b-{ns}'", message="not b"),
        validation("request.operation != 'DELETE' || request.namespace != oldObject.metadata.name", message="kept"),
    ]
    everywhere: Thing = {"matchResources": {"namespaceSelector": {}}}
    await validating(raw, {"matchConstraints": constraints, "validations": validations}, everywhere)
    labelled = {"labels": {"for": "{ns}"}}
    answer = await until(
        raw, "POST /api/v1/namespaces?dryRun=All", {"metadata": {"name": "b-{ns}", **labelled}}, "denied"
    )
    assert answer.refusal.message.endswith("denied request: not b")
    await raw.ok("POST /api/v1/namespaces", {"metadata": {"name": "c-{ns}", **labelled}})
    answer = await raw("DELETE /api/v1/namespaces/c-{ns}?dryRun=All")
    assert answer.refusal.message.endswith("denied request: kept")


async def test_a_collection_is_deleted_one_by_one(raw: Raw) -> None:
    constraints = match(rule("configmaps", "DELETE"))
    validations = [validation("oldObject.metadata.name != 'a'", message="it is kept")]
    name = await validating(raw, {"matchConstraints": constraints, "validations": validations})
    await raw.ok("POST configmaps", config_map())
    await until(raw, "DELETE configmaps/a?dryRun=All", None, "denied")
    answer = await raw("DELETE configmaps?labelSelector=!other")
    assert answer.refusal == refused(name, "it is kept", what='configmaps "Unknown"')


async def test_a_status_is_a_subresource(raw: Raw) -> None:
    constraints = match(rule("deployments/status", "UPDATE", group="apps"))
    validations = [validation("object.status.replicas < 5 && object.kind == 'Deployment'", message="too many")]
    name = await validating(raw, {"matchConstraints": constraints, "validations": validations})
    await raw.ok("POST deployments", deployment())
    change = {"status": {"replicas": 5}}
    answer = await until(raw, "PATCH deployments/web/status?dryRun=All", change, "denied", patch="merge")
    assert answer.refusal == refused(name, "too many", what='deployments.apps "web"')
    await raw.ok("PATCH deployments/web", {"spec": {"paused": True}}, patch="merge")
