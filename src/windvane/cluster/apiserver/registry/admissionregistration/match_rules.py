"""Rules for what webhooks and policies say they are asked about: operations on resources, selectors, conditions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector, qualified_name
from windvane.cluster.apiserver.registry.validation.problems import Problems

if TYPE_CHECKING:
    from windvane.cluster.apiserver.expressions import Compiled

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
MATCH_POLICIES = ("Equivalent", "Exact")
SCOPES = ("*", "Cluster", "Namespaced")
MOST_CONDITIONS = 64


def match_conditions(conditions: Sequence[Wire], path: str, problems: Problems, *, params: bool = False) -> None:
    """Check `matchConditions`, of a webhook or of a policy; variables can't be used there."""
    if not conditions:
        return
    from windvane.api.cel.types import BOOL
    from windvane.cluster.apiserver.expressions import Scope

    if len(conditions) > MOST_CONDITIONS:
        problems.too_many(path, len(conditions), MOST_CONDITIONS)
    scope = Scope(params=params)
    names = [each.get("name") or "" for each in conditions]
    for index, condition in enumerate(conditions):
        here, expression = f"{path}[{index}]", (condition.get("expression") or "").strip()
        if not expression:
            problems.required(f"{here}.expression")
        else:
            compiles(scope.compile(expression, BOOL), f"{here}.expression", problems)
        if not names[index]:
            problems.required(f"{here}.name")
        else:
            qualified_name(names[index], f"{here}.name", problems)
            if names[index] in names[:index]:
                problems.duplicate(f"{here}.name", names[index])


def compiles(compiled: "Compiled", path: str, problems: Problems, *, shown: str | None = None) -> None:
    """Complain about an expression that can't be compiled; `shown` is how it was written, if not quite like that."""
    if not compiled.problem:
        return
    if compiled.problem.startswith("program instantiation"):
        problems.internal(path, compiled.problem)
    else:
        problems.invalid(path, compiled.text if shown is None else shown, compiled.problem)


def match_resources(match: Wire, path: str, problems: Problems) -> None:
    """Check what a policy or a binding is about."""
    if (policy := match["matchPolicy"]) not in MATCH_POLICIES:
        problems.unsupported(f"{path}.matchPolicy", policy, MATCH_POLICIES)
    for field in ("namespaceSelector", "objectSelector"):
        label_selector(match.get(field), f"{path}.{field}", problems)
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(field) or ()):
            here, names = f"{path}.{field}[{index}]", rule.get("resourceNames") or []
            for place, name in enumerate(names):
                problems.all_invalid(f"{here}.resourceNames[{place}]", name, path_segment_problems(name))
                if name in names[:place]:
                    problems.duplicate(f"{here}.resourceNames[{place}]", name)
            rule_with_operations(rule, here, problems)


def rule_with_operations(rule: Wire, path: str, problems: Problems) -> None:
    """Check which operations on which resources a webhook or a policy is asked about."""
    for field, called in (("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")):
        stated = rule.get(field) or []
        if not stated:
            problems.required(f"{path}.{field}")
        if len(stated) > 1 and "*" in stated:
            problems.invalid(f"{path}.{field}", stated, f"if '*' is present, must not specify other {called}")
        for index, each in enumerate(stated):
            if field == "operations" and each not in OPERATIONS:
                problems.unsupported(f"{path}.{field}[{index}]", each, OPERATIONS)
            if field == "apiVersions" and not each:
                problems.required(f"{path}.{field}[{index}]")
    _resources(rule.get("resources") or [], f"{path}.resources", problems)
    if (scope := rule.get("scope")) is not None and scope not in SCOPES:
        problems.unsupported(f"{path}.scope", scope, SCOPES)


def _resources(resources: Sequence[str], path: str, problems: Problems) -> None:
    if not resources:
        problems.required(path)
    all_parts_of: set[str] = set()
    parts_of_all: set[str] = set()
    has_whole = False
    for index, each in enumerate(resources):
        here = f"{path}[{index}]"
        if not each:
            problems.required(here)
            continue
        resource, slash, part = each.partition("/")
        if not slash:
            has_whole = each != "*"
            continue
        if resource in all_parts_of:
            problems.invalid(here, each, f"if '{resource}/*' is present, must not specify {each}")
        if part in parts_of_all:
            problems.invalid(here, each, f"if '*/{part}' is present, must not specify {each}")
        if part == "*":
            all_parts_of.add(resource)
        if resource == "*":
            parts_of_all.add(part)
    if len(resources) > 1 and "*/*" in resources:
        problems.invalid(path, resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and has_whole:
        why = "if '*' is present, must not specify other resources without subresources"
        problems.invalid(path, resources, why)


def default_match_resources(match: Wire | None) -> None:
    """Fill in what matches objects."""
    if match is None:
        return
    match.setdefault("matchPolicy", "Equivalent")
    for selector in ("namespaceSelector", "objectSelector"):
        match.setdefault(selector, {})
    for rule in [*(match.get("resourceRules") or ()), *(match.get("excludeResourceRules") or ())]:
        rule.setdefault("scope", "*")
