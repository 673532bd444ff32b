"""Policies and their bindings: their author may read the parameters that they name."""

from typing import Any

import pytest

from conformance.access import Somebody
from conformance.access import rule as access_rule
from conformance.policies import REGISTRATION, Thing, match, validation
from conformance.requests import Raw

POLICIES, BINDINGS = (f"{REGISTRATION}/validatingadmission{plural}" for plural in ("policies", "policybindings"))
MUTATING, MUTATING_BINDINGS = (f"{REGISTRATION}/mutatingadmission{plural}" for plural in ("policies", "policybindings"))
VALID: Thing = {"matchConstraints": match(), "validations": [validation("true")]}
MARK = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
VALID_MUTATING: Thing = {"matchConstraints": match(), "reinvocationPolicy": "Never", "mutations": [MARK]}


def invalid(expression: str, why: str, *, at: int = 1) -> str:
    """The message about an expression with one mistake, `at` which column."""
    dots = "." * (at - 1)
    return (
        f'Invalid value: "{expression}": compilation failed: ERROR: <input>:1:{at}: {why}\n | {expression}\n | {dots}^'
    )


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
