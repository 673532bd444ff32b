"""Policies that are in force in the test's namespace alone, and how to wait until a server has noticed them."""

import asyncio
from typing import Any

from conformance.requests import Answer, Raw
from windvane import ambient

Thing = dict[str, Any]
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
# Seconds: the real server reads policies every second, and looks for new kinds of parameters every thirty.
NOTICED = 100.0


def rule(resource: str, *operations: str, group: str = "", version: str = "v1", **rest: Any) -> Thing:
    """An entry in `resourceRules`."""
    asked = list(operations) or ["CREATE"]
    return {"apiGroups": [group], "apiVersions": [version], "resources": [resource], "operations": asked, **rest}


CONFIG_MAPS = rule("configmaps")
OF_CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}


def match(*rules: Thing, **rest: Any) -> Thing:
    """`matchConstraints`."""
    return {"resourceRules": list(rules) or [CONFIG_MAPS], **rest}


def validation(expression: str, **rest: Any) -> Thing:
    return {"expression": expression, **rest}


def within(raw: Raw) -> Thing:
    """What is said of the test's namespace alone.

    A policy that can't be configured has no bindings, and is in force wherever its own constraints say: those have to
    say this, too, or other tests would meet it until the server has forgotten it.
    """
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": raw.namespace}}}


async def force(raw: Raw, kind: str, spec: Thing, *bindings: Thing) -> str:
    """Make a policy, and bindings of it for the test's namespace; says what they are called."""
    name = f"{raw.namespace}-{ambient.token(4)}"
    path = f"{REGISTRATION}/{kind.lower()}"
    raw.afterwards.append(f"DELETE {path}policies/{name}")  # what is in no namespace would be judged for ever
    if spec.get("paramKind") == OF_CONFIG_MAPS:
        await _keep_watched(raw, path, spec)
    await raw.ok(f"POST {path}policies", {"metadata": {"name": name}, "spec": {"matchConstraints": match(), **spec}})
    for index, binding in enumerate(bindings or [{}]):
        actions = {} if kind.startswith("Mutating") else {"validationActions": ["Deny"]}
        made = {"policyName": name, "matchResources": within(raw), **actions, **binding}
        suffix = f"-{index + 1}" if index else ""
        await raw.ok(f"POST {path}policybindings", {"metadata": {"name": f"{name}{suffix}"}, "spec": made})
    return name


async def _keep_watched(raw: Raw, path: str, spec: Thing) -> None:
    """Leave a policy there whose parameters are ConfigMaps, and which is about nothing.

    A real server that has just forgotten the last such policy may never find the parameters of the next one.
    """
    about_nothing = match(rule("nothing", group="nowhere.example"))
    policy = {**spec, "matchConstraints": about_nothing, "matchConditions": []}
    actions = {"validationActions": ["Deny"]} if "validations" in spec else {}
    binding = {"policyName": "keeps", "paramRef": {"name": "any", "parameterNotFoundAction": "Allow"}, **actions}
    await raw(f"POST {path}policies", {"metadata": {"name": "keeps"}, "spec": policy})
    await raw(f"POST {path}policybindings", {"metadata": {"name": "keeps"}, "spec": binding})


async def validating(raw: Raw, spec: Thing, *bindings: Thing) -> str:
    return await force(raw, "ValidatingAdmission", spec, *bindings)


async def mutating(raw: Raw, spec: Thing, *bindings: Thing) -> str:
    defaults = {"failurePolicy": "Fail", "reinvocationPolicy": "Never"}
    return await force(raw, "MutatingAdmission", {**defaults, **spec}, *bindings)


async def until(raw: Raw, request: str, body: Any, told: str, **how: Any) -> Answer:
    """Ask again until the answer has these words in it, in a warning maybe: then the server has noticed the policy."""
    answer = await raw(request, body, **how)
    try:
        async with asyncio.timeout(NOTICED):
            while told not in answer.body.decode() and told not in " ".join(answer.warnings):
                await ambient.sleep(0.05)
                answer = await raw(request, body, **how)
    except TimeoutError:
        raise AssertionError(f"{request} never said {told!r}: {answer.body.decode()} {answer.warnings}") from None
    return answer
