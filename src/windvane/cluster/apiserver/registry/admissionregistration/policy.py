"""What validating and mutating admission policies have in common."""

import re
from typing import TYPE_CHECKING

from windvane.api.json_value import Wire
from windvane.api.names import service_name_problems, subdomain_problems
from windvane.cluster.apiserver.columns.column import Column, read
from windvane.cluster.apiserver.registry.admissionregistration.match_rules import (
    compiles,
    default_match_resources,
    match_conditions,
    match_resources,
)
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems

if TYPE_CHECKING:
    from windvane.cluster.apiserver.expressions import Scope

FAILURE_POLICIES = ("Fail", "Ignore")
MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
_NAME = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


def _parameter_kind(policy: Wire) -> str:
    kind = read(policy, "spec.paramKind")
    return "<unset>" if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


class PolicyStrategy(BuiltinStrategy):
    """An admission policy: above all, its expressions must compile."""

    has_generation = True
    is_costly = True
    parameter_kind = Column("ParamKind", _parameter_kind)

    def set_defaults(self, obj: Wire) -> None:
        obj.setdefault("spec", {}).setdefault("failurePolicy", "Fail")
        default_match_resources(obj["spec"].get("matchConstraints"))


def head(spec: Wire, old: Wire | None, problems: Problems, *, only_mutating: bool = False) -> None:
    """What both kinds of policies begin with."""
    if (failure_policy := spec["failurePolicy"]) not in FAILURE_POLICIES:
        problems.unsupported("spec.failurePolicy", failure_policy, FAILURE_POLICIES)
    kind = spec.get("paramKind")
    if kind is not None:
        _param_kind(kind, problems)
    match = spec.get("matchConstraints")
    if match is None:
        problems.required("spec.matchConstraints")
    else:
        match_resources(match, "spec.matchConstraints", problems)
        if not match.get("resourceRules"):
            problems.required("spec.matchConstraints.resourceRules")
        if only_mutating:
            validate_only_mutating(match, "spec.matchConstraints", problems)
    before = (old or {}).get("spec") or {}
    if old is None or any(before.get(field) != spec.get(field) for field in ("paramKind", "matchConditions")):
        conditions = spec.get("matchConditions") or ()
        match_conditions(conditions, "spec.matchConditions", problems, params=kind is not None)


def scope_of(spec: Wire, variables: list[Wire] | None) -> "Scope":
    """What expressions of a policy can refer to."""
    # The CEL engine takes long to import, and most servers never see a policy.
    from windvane.cluster.apiserver.expressions import Scope

    return Scope(params=spec.get("paramKind") is not None, variables=variables)


def validate_variables(spec: Wire, scope: "Scope", problems: Problems) -> None:
    """Check the variables of a policy, each of which may refer to those before it."""
    for index, variable in enumerate(spec.get("variables") or ()):
        here, name = f"spec.variables[{index}]", variable.get("name") or ""
        if not name.strip():
            problems.required(f"{here}.name", "name is not specified")
        elif not _is_identifier(name):
            problems.invalid(f"{here}.name", name, "must be a valid CEL identifier")
        if not (variable.get("expression") or "").strip():
            problems.required(f"{here}.expression", "expression is not specified")
        else:
            compiles(scope.add(name, variable["expression"]), f"{here}.expression", problems)


def _is_identifier(name: str) -> bool:
    from windvane.api.cel.grammar.names import SPELLED_OUT

    return bool(_NAME.fullmatch(name)) and name not in SPELLED_OUT


def _param_kind(kind: Wire, problems: Problems) -> None:
    stated, path = kind.get("apiVersion") or "", "spec.paramKind.apiVersion"
    group, _, version = stated.rpartition("/")
    if not stated:
        problems.required(path)
    elif stated.count("/") > 1:
        problems.invalid(path, stated, f"unexpected GroupVersion string: {stated}")
    else:
        if group and (wrong := subdomain_problems(group)):
            problems.invalid(path, group, ",".join(wrong))
        if not version:
            problems.invalid(path, stated, "version must be specified")
        elif wrong := service_name_problems(version):
            problems.invalid(path, version, ",".join(wrong))
    name, path = kind.get("kind") or "", "spec.paramKind.kind"
    if not name:
        problems.required(path)
    elif wrong := service_name_problems(name.lower()):
        problems.invalid(path, name, f"may have mixed case, but should otherwise match: {','.join(wrong)}")


def validate_only_mutating(match: Wire, path: str, problems: Problems) -> None:
    """Check that only operations are matched that can change an object."""
    for rule in match.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in MUTATING_OPERATIONS:
                problems.unsupported(f"{path}.resourceRules.operations", operation, MUTATING_OPERATIONS)
