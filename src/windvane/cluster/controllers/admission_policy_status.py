"""Looks whether the expressions of ValidatingAdmissionPolicies fit the kinds that they are about; status says so."""

import asyncio
import math
import pkgutil
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import msgspec

import windvane.k8s
from windvane import Client, Context, Kind, NotFound, Object, Operator, ambient, kind_of, schema
from windvane.api.cel.cost.limits import Deadline
from windvane.k8s.admissionregistration import (
    ExpressionWarning,
    NamedRuleWithOperations,
    TypeChecking,
    ValidatingAdmissionPolicy,
)
from windvane.k8s.apiextensions import CustomResourceDefinition

MOST_KINDS = 10
LONGEST = 10.0
"""The seconds that looking at one policy may take."""


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    # Several threads that read long expressions at once would hold up everybody else.
    @operator.controller(ValidatingAdmissionPolicy, name="validatingadmissionpolicy-status", concurrency=1)
    async def check(policy: ValidatingAdmissionPolicy, ctx: Context) -> None:
        if policy.metadata.generation <= (policy.status.observed_generation or 0):
            return
        policy.status.type_checking = TypeChecking(expression_warnings=await warnings(policy, ctx.client))
        policy.status.observed_generation = policy.metadata.generation


async def warnings(policy: ValidatingAdmissionPolicy, client: Client) -> list[ExpressionWarning]:
    """What doesn't fit."""
    # The engine takes long to import, and most clusters never see a policy.
    from windvane.api.cel import policy_type_checker

    served = await client.discover()
    rules = policy.spec.match_constraints.resource_rules if policy.spec.match_constraints is not None else []
    schemas = [(kind, await _schema(kind, client)) for kind in kinds_of(rules, served)]
    kinds = [(kind, known) for kind, known in schemas if known is not None]
    params: dict[str, Any] | None = None
    if (param := policy.spec.param_kind) is not None:
        named = [each for each in served if (each.api_version, each.name) == (param.api_version, param.kind)]
        params = (await _schema(named[0], client) if named else None) or {}
    expressions = [
        policy_type_checker.Checked(f"spec.validations[{index}].{field}", text)
        for index, validation in enumerate(policy.spec.validations)
        for field, text in (
            ("expression", validation.expression),
            ("messageExpression", validation.message_expression),
        )
        if text
    ]
    variables = [(each.name, each.expression) for each in policy.spec.variables]
    deadline = Deadline(LONGEST if ambient.is_real() else math.inf)

    def check() -> list[tuple[str, str]]:
        with deadline:
            return policy_type_checker.warnings(expressions, variables, kinds, params)

    try:
        told = await asyncio.to_thread(check)  # the API server may be on the same event loop
    finally:
        deadline.end()  # the thread would go on, and the process couldn't end before
    return [ExpressionWarning(field_ref=field, warning=warning) for field, warning in told]


def kinds_of(rules: Sequence[NamedRuleWithOperations], served: Sequence[Kind]) -> list[Kind]:
    """The kinds that rules name one by one; what is named with a * could be anything."""
    found: dict[tuple[str, str, str], Kind] = {}
    for rule in rules:
        for kind in list(_named(rule, served))[:MOST_KINDS]:
            found[kind.group, kind.version, kind.name] = kind
    return [found[key] for key in sorted(found)][:MOST_KINDS]


def _named(rule: NamedRuleWithOperations, served: Sequence[Kind]) -> Iterator[Kind]:
    if any("*" in each for each in (*rule.api_groups, *rule.api_versions)):
        return
    resources = [each for each in rule.resources if not set(each) & {"*", "/"}]
    for kind in sorted(served, key=lambda each: (each.group, each.version, each.plural)):
        if kind.group in rule.api_groups and kind.version in rule.api_versions and kind.plural in resources:
            yield kind


async def _schema(kind: Kind, client: Client) -> dict[str, Any] | None:
    """What is known of the objects of a kind; None if nothing is."""
    if (built_in := _built_in().get((kind.group, kind.version, kind.name))) is not None:
        return schema(built_in, builtin=True)
    try:
        definition = await client.get(CustomResourceDefinition, f"{kind.plural}.{kind.group}")
    except NotFound:
        return None
    for version in definition.spec.versions:
        if version.name == kind.version and version.schema is not None:
            known: dict[str, Any] = msgspec.to_builtins(version.schema.open_api_v3_schema) or {}
            return known
    return None


@cache
def _built_in() -> dict[tuple[str, str, str], type[Object]]:
    found: dict[tuple[str, str, str], type[Object]] = {}
    for module in pkgutil.iter_modules(windvane.k8s.__path__, "windvane.k8s."):
        for each in vars(import_module(module.name)).values():
            if isinstance(each, type) and issubclass(each, Object) and each.__module__ == module.name:
                kind = kind_of(each)
                found[kind.group, kind.version, kind.name] = each
    return found
