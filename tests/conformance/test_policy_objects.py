"""Whether policies and their bindings are accepted, and in which words they are not."""

from typing import Any

import pytest

from conformance.access import Somebody
from conformance.access import rule as access_rule
from conformance.policies import CONFIG_MAPS, REGISTRATION, Thing, match, rule, validation
from conformance.requests import Raw

POLICIES, BINDINGS = (f"{REGISTRATION}/validatingadmission{plural}" for plural in ("policies", "policybindings"))
MUTATING, MUTATING_BINDINGS = (f"{REGISTRATION}/mutatingadmission{plural}" for plural in ("policies", "policybindings"))
VALID: Thing = {"matchConstraints": match(), "validations": [validation("true")]}
SELECTOR = {"matchLabels": {"-": "x"}}
MARK = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
VALID_MUTATING: Thing = {"matchConstraints": match(), "reinvocationPolicy": "Never", "mutations": [MARK]}


async def problems(raw: Raw, path: str, spec: Thing) -> list[str]:
    """What the server has against a new object, cause by cause; nothing is stored."""
    answer = await raw(f"POST {path}?dryRun=All", {"metadata": {"name": "p-{ns}"}, "spec": spec})
    if answer.code == 201:
        return []
    assert answer.code == 422, answer.body
    causes = answer.json["details"]["causes"]
    return [f"{cause['field']}: {cause['message']}" for cause in causes]


def invalid(expression: str, why: str, *, at: int = 1) -> str:
    """The message about an expression with one mistake, `at` which column."""
    dots = "." * (at - 1)
    return (
        f'Invalid value: "{expression}": compilation failed: ERROR: <input>:1:{at}: {why}\n | {expression}\n | {dots}^'
    )


@pytest.mark.parametrize(
    ("change", "causes"),
    [
        ({}, []),
        (
            {"validations": []},
            [
                "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
                "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
            ],
        ),
        (
            {"failurePolicy": "Maybe"},
            ['spec.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
        ),
        ({"failurePolicy": ""}, ['spec.failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"']),
        (
            {"matchConstraints": match({**CONFIG_MAPS, "scope": ""}, matchPolicy="")},
            [
                'spec.matchConstraints.matchPolicy: Unsupported value: "": supported values: "Equivalent", "Exact"',
                (
                    'spec.matchConstraints.resourceRules[0].scope: Unsupported value: "": supported values: '
                    '"*", "Cluster", "Namespaced"'
                ),
            ],
        ),
        ({"matchConstraints": None}, ["spec.matchConstraints: Required value"]),
        ({"matchConstraints": {}}, ["spec.matchConstraints.resourceRules: Required value"]),
        (
            {"matchConstraints": match(matchPolicy="Some")},
            ['spec.matchConstraints.matchPolicy: Unsupported value: "Some": supported values: "Equivalent", "Exact"'],
        ),
        (
            {"validations": [validation(" ")]},
            ["spec.validations[0].expression: Required value: expression is not specified"],
        ),
        (
            {"validations": [validation("object.")]},
            [
                "spec.validations[0].expression: "
                + invalid("object.", "Syntax error: no viable alternative at input '.'", at=8)
            ],
        ),
        (
            {"validations": [validation("object.spec.paused")]},
            [
                (
                    'spec.validations[0].expression: Invalid value: "object.spec.paused": '
                    "must evaluate to bool but got dyn"
                )
            ],
        ),
        (
            {"validations": [validation("[object.a]")]},
            ['spec.validations[0].expression: Invalid value: "[object.a]": must evaluate to bool but got list(dyn)'],
        ),
        (
            {"validations": [validation("params.x == 1")]},
            [
                "spec.validations[0].expression: "
                + invalid("params.x == 1", "undeclared reference to 'params' (in container '')")
            ],
        ),
        (
            {"validations": [validation("variables.x == 1")]},
            [
                "spec.validations[0].expression: "
                + invalid("variables.x == 1", "undeclared reference to 'variables' (in container '')")
            ],
        ),
        (
            {"validations": [validation("request.nothing == 1")]},
            ["spec.validations[0].expression: " + invalid("request.nothing == 1", "undefined field 'nothing'", at=8)],
        ),
        (
            {"validations": [validation("request.name == 1")]},
            [
                "spec.validations[0].expression: "
                + invalid(
                    "request.name == 1",
                    "found no matching overload for '_==_' applied to '(string, int)'",
                    at=14,
                )
            ],
        ),
        (
            {"validations": [validation("authorizer.nothing == 1")]},
            [
                "spec.validations[0].expression: "
                + invalid(
                    "authorizer.nothing == 1",
                    "unexpected failed resolution of 'kubernetes.authorization.Authorizer'",
                    at=11,
                )
            ],
        ),
        (
            {"validations": [validation("object.a.matches('[')")]},
            ["spec.validations[0].expression: " + invalid("object.a.matches('[')", "invalid matches argument", at=18)],
        ),
        (
            {"validations": [validation("true", message=" ", reason="Nope", messageExpression=" ")]},
            [
                'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
                'spec.validations[0].message: Invalid value: " ": must be non-empty if specified',
                (
                    'spec.validations[0].reason: Unsupported value: "Nope": supported values: "Forbidden", "Invalid", '
                    '"RequestEntityTooLarge"'
                ),
            ],
        ),
        (
            {"validations": [validation("true", message="a\nb", messageExpression="authorizer == null")]},
            [
                "spec.validations[0].messageExpression: "
                + invalid("authorizer == null", "undeclared reference to 'authorizer' (in container '')"),
                'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
            ],
        ),
        (
            {"validations": [validation("true", messageExpression="object.metadata.name")]},
            [
                (
                    'spec.validations[0].messageExpression: Invalid value: "object.metadata.name": '
                    "must evaluate to string but got dyn"
                )
            ],
        ),
        (
            {
                "matchConditions": [
                    {"name": "a", "expression": "true"},
                    {"name": "a", "expression": " variables.x "},
                    {},
                ]
            },
            [
                "spec.matchConditions[1].expression: "
                + invalid("variables.x", "undeclared reference to 'variables' (in container '')"),
                'spec.matchConditions[1].name: Duplicate value: "a"',
                "spec.matchConditions[2].expression: Required value",
                "spec.matchConditions[2].name: Required value",
            ],
        ),
        (
            {"matchConditions": [{"name": "a b", "expression": "true"}]},
            [
                (
                    'spec.matchConditions[0].name: Invalid value: "a b": name part must consist of '
                    "alphanumeric characters, "
                    "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
                    "'MyName',  or 'my.name',  "
                    "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
                )
            ],
        ),
        (
            {
                "variables": [
                    {"name": "a", "expression": "variables.b"},
                    {"name": "b", "expression": "1"},
                    {"name": "in", "expression": " "},
                    {"name": "", "expression": "1 +"},
                ],
                "validations": [validation("variables.a == 1 && variables.b == 'x'")],
            },
            [
                "spec.variables[0].expression: " + invalid("variables.b", "undefined field 'b'", at=10),
                'spec.variables[2].name: Invalid value: "in": must be a valid CEL identifier',
                "spec.variables[2].expression: Required value: expression is not specified",
                "spec.variables[3].name: Required value: name is not specified",
                "spec.variables[3].expression: "
                + invalid(
                    "1 +",
                    "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', "
                    "'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
                    at=4,
                ),
                "spec.validations[0].expression: "
                + invalid(
                    "variables.a == 1 && variables.b == 'x'",
                    "found no matching overload for '_==_' applied to '(int, string)'",
                    at=33,
                ),
            ],
        ),
        (
            {"auditAnnotations": [{"key": "a", "valueExpression": "1"}, {"key": "a", "valueExpression": " "}]},
            [
                (
                    'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one '
                    "of [string null_type] "
                    "but got int"
                ),
                "spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified",
                'spec.auditAnnotations[1].key: Duplicate value: "a"',
            ],
        ),
        (
            {"paramKind": {"apiVersion": "a/b/c", "kind": "X Y"}},
            [
                'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
                (
                    'spec.paramKind.kind: Invalid value: "X Y": may have mixed case, but should otherwise '
                    "match: a DNS-1035 "
                    "label must consist of lower case alphanumeric characters or '-', start with an "
                    "alphabetic character, and "
                    "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
                ),
            ],
        ),
        (
            {"paramKind": {}},
            ["spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value"],
        ),
        (
            {
                "matchConstraints": match(
                    {**CONFIG_MAPS, "operations": ["CREATE", "*", "READ"]},
                    {**CONFIG_MAPS, "apiGroups": ["", "*"], "apiVersions": ["", "*"], "scope": "Some"},
                    {
                        **CONFIG_MAPS,
                        "resources": ["*", "pods", "pods/*", "pods/exec", "*/scale", "jobs/scale", "", "*/*"],
                    },
                    {**CONFIG_MAPS, "resourceNames": ["a", "a", "b/c"]},
                    {},
                )
            },
            [
                (
                    'spec.matchConstraints.resourceRules[0].operations: Invalid value: ["CREATE","*","READ"]: '
                    "if '*' is present, must not specify other operations"
                ),
                (
                    'spec.matchConstraints.resourceRules[0].operations[2]: Unsupported value: "READ": '
                    "supported values: "
                    '"*", "CONNECT", "CREATE", "DELETE", "UPDATE"'
                ),
                (
                    'spec.matchConstraints.resourceRules[1].apiGroups: Invalid value: ["","*"]: '
                    "if '*' is present, must not specify other API groups"
                ),
                (
                    'spec.matchConstraints.resourceRules[1].apiVersions: Invalid value: ["","*"]: '
                    "if '*' is present, must not specify other API versions"
                ),
                "spec.matchConstraints.resourceRules[1].apiVersions[0]: Required value",
                (
                    'spec.matchConstraints.resourceRules[1].scope: Unsupported value: "Some": supported values: '
                    '"*", "Cluster", "Namespaced"'
                ),
                (
                    'spec.matchConstraints.resourceRules[2].resources[3]: Invalid value: "pods/exec": '
                    "if 'pods/*' is present, must not specify pods/exec"
                ),
                (
                    'spec.matchConstraints.resourceRules[2].resources[5]: Invalid value: "jobs/scale": '
                    "if '*/scale' is present, must not specify jobs/scale"
                ),
                "spec.matchConstraints.resourceRules[2].resources[6]: Required value",
                (
                    "spec.matchConstraints.resourceRules[2].resources: Invalid value: "
                    '["*","pods","pods/*","pods/exec","*/scale","jobs/scale","","*/*"]: '
                    "if '*/*' is present, must not specify other resources"
                ),
                (
                    "spec.matchConstraints.resourceRules[2].resources: Invalid value: "
                    '["*","pods","pods/*","pods/exec","*/scale","jobs/scale","","*/*"]: '
                    "if '*' is present, must not specify other resources without subresources"
                ),
                'spec.matchConstraints.resourceRules[3].resourceNames[1]: Duplicate value: "a"',
                "spec.matchConstraints.resourceRules[3].resourceNames[2]: Invalid value: \"b/c\": may not contain '/'",
                "spec.matchConstraints.resourceRules[4].operations: Required value",
                "spec.matchConstraints.resourceRules[4].apiGroups: Required value",
                "spec.matchConstraints.resourceRules[4].apiVersions: Required value",
                "spec.matchConstraints.resourceRules[4].resources: Required value",
            ],
        ),
    ],
)
async def test_a_validating_policy(raw: Raw, change: Thing, causes: list[str]) -> None:
    assert await problems(raw, POLICIES, {**VALID, **change}) == causes


REFERENCE: Thing = {"name": "a", "parameterNotFoundAction": "Deny"}


@pytest.mark.parametrize(
    ("spec", "causes"),
    [
        ({"policyName": "a", "validationActions": ["Deny"]}, []),
        (
            {},
            [
                "spec.policyName: Required value",
                "spec.validationActions: Required value: at least one validation action is required",
            ],
        ),
        (
            {"policyName": "a", "validationActions": ["Deny", "Warn", "Warn", "Sing"]},
            [
                'spec.validationActions[2]: Duplicate value: "Warn"',
                'spec.validationActions[3]: Unsupported value: "Sing": supported values: "Audit", "Deny", "Warn"',
                (
                    'spec.validationActions: Invalid value: ["Deny","Warn","Warn","Sing"]: must not '
                    "contain both Deny and Warn "
                    "(repeating the same validation failure information in the API response and headers "
                    "serves no purpose)"
                ),
            ],
        ),
        (
            {"policyName": "a", "validationActions": ["Deny"], "paramRef": {}},
            [
                "spec.paramRef: Required value: one of name or selector must be specified",
                "spec.paramRef.parameterNotFoundAction: Required value",
            ],
        ),
        (
            {
                "policyName": "a",
                "validationActions": ["Deny"],
                "paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Cry"},
            },
            [
                "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
                "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
                'spec.paramRef.parameterNotFoundAction: Unsupported value: "Cry": supported values: "Deny", "Allow"',
            ],
        ),
        ({"policyName": "a", "validationActions": ["Deny"], "matchResources": {}, "paramRef": REFERENCE}, []),
    ],
)
async def test_a_binding_of_a_validating_policy(raw: Raw, spec: Thing, causes: list[str]) -> None:
    assert await problems(raw, BINDINGS, spec) == causes


@pytest.mark.parametrize(
    ("change", "causes"),
    [
        ({}, []),
        ({"mutations": []}, ["spec.mutations: Required value: mutations must contain at least one item"]),
        ({"reinvocationPolicy": None}, ["spec.reinvocationPolicy: Required value"]),
        (
            {"reinvocationPolicy": "Often"},
            ['spec.reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded", "Never"'],
        ),
        (
            {"matchConstraints": match(rule("pods", "DELETE"))},
            [
                (
                    'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: '
                    '"*", "CONNECT", "CREATE", "UPDATE"'
                )
            ],
        ),
        (
            {"mutations": [{}, {"patchType": "Some"}, {"patchType": "JSONPatch"}, {**MARK, "jsonPatch": {}}]},
            [
                "spec.mutations[0].patchType: Required value",
                (
                    'spec.mutations[1].patchType: Unsupported value: "Some": supported values: "ApplyConfiguration", '
                    '"JSONPatch"'
                ),
                "spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch",
                (
                    'spec.mutations[3].jsonPatch: Invalid value: "{jsonPatch}": must not be specified '
                    "when patchType is "
                    "ApplyConfiguration"
                ),
            ],
        ),
        (
            {"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": " "}}]},
            ["spec.mutations[0].applyConfiguration.expression: Required value"],
        ),
        (
            {"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object.spec{}"}}]},
            [
                (
                    'spec.mutations[0].applyConfiguration.expression: Invalid value: "Object.spec{}": '
                    "must evaluate to Object "
                    "but got Object.spec"
                )
            ],
        ),
        (
            {"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[Object{}]"}}]},
            [
                (
                    'spec.mutations[0].jsonPatch.expression: Invalid value: "[Object{}]": must evaluate '
                    "to list(JSONPatch) "
                    "but got list(Object)"
                )
            ],
        ),
        (
            {"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 1}]"}}]},
            [
                "spec.mutations[0].jsonPatch.expression: "
                + invalid(
                    "[JSONPatch{op: 1}]", "expected type of field 'op' is 'string' but provided type is 'int'", at=14
                )
            ],
        ),
    ],
)
async def test_a_mutating_policy(raw: Raw, change: Thing, causes: list[str]) -> None:
    spec: dict[str, Any] = {**VALID_MUTATING, **change}
    assert await problems(raw, MUTATING, {key: value for key, value in spec.items() if value is not None}) == causes


async def test_a_binding_of_a_mutating_policy(raw: Raw) -> None:
    spec = {"policyName": "a", "matchResources": match(rule("pods", "DELETE"))}
    assert await problems(raw, MUTATING_BINDINGS, spec) == [
        (
            'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: '
            '"*", "CONNECT", "CREATE", "UPDATE"'
        )
    ]


async def test_conditions_that_stay_are_not_checked_again(raw: Raw) -> None:
    name = f"p-{raw.namespace}"
    spec = {**VALID, "matchConditions": [{"name": "a", "expression": "true"}]}
    await raw.ok(f"POST {POLICIES}", {"metadata": {"name": name}, "spec": spec})
    changed = {"spec": {"validations": [validation("1 == 'x'")]}}
    refused = await raw(f"PATCH {POLICIES}/{name}", changed, patch="merge")
    assert [cause["field"] for cause in refused.json["details"]["causes"]] == ["spec.validations[0].expression"]
    await raw.ok(f"PATCH {POLICIES}/{name}", {"spec": {"failurePolicy": "Ignore"}}, patch="merge")
    await raw.ok(f"DELETE {POLICIES}/{name}")


PARAMS: Thing = {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.mark.parametrize("path", [POLICIES, MUTATING])
async def test_who_writes_a_policy_may_read_its_parameters(raw: Raw, path: str) -> None:
    somebody = Somebody(raw)
    await somebody.may_everywhere(access_rule("create update patch", "*", "admissionregistration.k8s.io"))
    valid = VALID if path == POLICIES else VALID_MUTATING
    policy: dict[str, Any] = {"metadata": {"name": "p-{ns}"}, "spec": valid}
    assert (await somebody(f"POST {path}?dryRun=All", policy)).code == 201
    refused = await somebody(f"POST {path}?dryRun=All", {**policy, "spec": {**policy["spec"], "paramKind": PARAMS}})
    user = f"&{{{somebody.name}  [system:authenticated] map[]}}"
    must = 'must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)'
    assert refused.refusal.message.endswith(f"is invalid: spec.paramKind: Forbidden: user {user} {must}")
    assert refused.refusal.causes == ["FieldValueForbidden spec.paramKind"]
    await raw.ok(f"POST {path}", {**policy, "spec": {**policy["spec"], "paramKind": PARAMS}})
    unchanged = await somebody(f"PATCH {path}/p-{raw.namespace}", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    assert unchanged.code == 200
    await raw.ok(f"DELETE {path}/p-{raw.namespace}")


@pytest.mark.parametrize(
    ("path", "policies", "own"),
    [(BINDINGS, POLICIES, {"validationActions": ["Deny"]}), (MUTATING_BINDINGS, MUTATING, {})],
)
async def test_who_writes_a_binding_may_read_its_parameters(raw: Raw, path: str, policies: str, own: Thing) -> None:
    somebody, name = Somebody(raw), f"p-{raw.namespace}"
    await somebody.may_everywhere(
        access_rule("create", "*", "admissionregistration.k8s.io"),
        access_rule("get", "configmaps", resourceNames=["mine"]),
    )
    spec: Thing = {"policyName": name, **own}

    async def told(**reference: Any) -> str:
        reference["parameterNotFoundAction"] = "Deny"
        binding = {"metadata": {"name": name}, "spec": {**spec, "paramRef": reference}}
        answer = await somebody(f"POST {path}?dryRun=All", binding)
        return "" if answer.code == 201 else answer.refusal.message.partition("spec.paramRef: Forbidden: ")[2]

    user = f"&{{{somebody.name}  [system:authenticated] map[]}}"
    lacks = 'does not have "get" permission for all groups, versions and resources'
    determine = "to determine minimum required permissions and user"
    assert await told(name="theirs") == f"unable to get policy {name} {determine} {user} {lacks}"
    valid = VALID if policies == POLICIES else VALID_MUTATING
    await raw.ok(f"POST {policies}", {"metadata": {"name": name}, "spec": {**valid, "paramKind": PARAMS}})
    assert await told(name="mine") == ""
    told_of = [await told(name="theirs"), await told(selector={})]
    expected = []
    for verb in ("get", "list"):
        who, what = (user, verb) if policies == POLICIES else (verb, user)  # the server mixes these up
        expected.append(f'user {who} does not have "{what}" permission on the object referenced by paramRef')
    assert told_of == expected
    unknown = {"spec": {"paramKind": {"apiVersion": "nowhere.windvane.dev/v1", "kind": "Nothing"}}}
    await raw.ok(f"PATCH {policies}/{name}", unknown, patch="merge")
    kind = "&{nowhere.windvane.dev/v1 Nothing}"
    assert await told(name="mine") == f"unable to resolve paramKind {kind} {determine} {user} {lacks}"
    await raw.ok(f"DELETE {policies}/{name}")
