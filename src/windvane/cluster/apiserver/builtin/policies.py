"""Rules for admission policies and their bindings: whether all their expressions can be compiled, above all."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from windvane.api.names import path_segment_problems, service_name_problems, subdomain_problems
from windvane.cluster.apiserver.builtin.asked_about import compiles, match_conditions, match_resources
from windvane.cluster.apiserver.builtin.metadata import label_selector, qualified_name
from windvane.cluster.apiserver.builtin.problems import Problems

if TYPE_CHECKING:
    from windvane.cluster.apiserver.expressions import Scope

Json = dict[str, Any]
ACTIONS = ("Audit", "Deny", "Warn")
FAILURE_POLICIES = ("Fail", "Ignore")
REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
MOST_ANNOTATIONS, LONGEST_VALUE = 20, 5 * 1024
TWICE = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)
ONE_AT_LEAST = "validations or auditAnnotations must contain at least one item"
EITHER = "name and selector are mutually exclusive"
_NAME = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


def validating_policy(obj: Json, problems: Problems) -> None:
    """Check a ValidatingAdmissionPolicy."""
    _validating(obj, None, problems)


def changed_validating_policy(obj: Json, old: Json, problems: Problems) -> None:
    """The same, where what is wrong with conditions that are as they were doesn't matter."""
    _validating(obj, old, problems)


def mutating_policy(obj: Json, problems: Problems) -> None:
    """Check a MutatingAdmissionPolicy."""
    _mutating(obj, None, problems)


def changed_mutating_policy(obj: Json, old: Json, problems: Problems) -> None:
    """The same, where what is wrong with conditions that are as they were doesn't matter."""
    _mutating(obj, old, problems)


def validating_binding(obj: Json, problems: Problems) -> None:
    """Check a ValidatingAdmissionPolicyBinding."""
    spec = obj.get("spec") or {}
    _binding(spec, problems)
    actions: Sequence[str] = spec.get("validationActions") or []
    path = "spec.validationActions"
    for index, action in enumerate(actions):
        if action not in ACTIONS:
            problems.unsupported(f"{path}[{index}]", action, ACTIONS)
        if action in actions[:index]:
            problems.duplicate(f"{path}[{index}]", action)
    if {"Deny", "Warn"} <= set(actions):
        problems.invalid(path, actions, TWICE)
    if not actions:
        problems.required(path, "at least one validation action is required")


def mutating_binding(obj: Json, problems: Problems) -> None:
    """Check a MutatingAdmissionPolicyBinding."""
    spec = obj.get("spec") or {}
    _binding(spec, problems)
    _only_mutating(spec.get("matchResources") or {}, "spec.matchResources", problems)


def changed_status(obj: Json, _: Json, problems: Problems) -> None:
    """Check the status of a ValidatingAdmissionPolicy."""
    found = ((obj.get("status") or {}).get("typeChecking") or {}).get("expressionWarnings") or ()
    for index, warning in enumerate(found):
        for field in ("warning", "fieldRef"):
            if not (warning.get(field) or "").strip():
                problems.required(f"status.typeChecking.expressionWarnings[{index}].{field}")


def _validating(obj: Json, old: Json | None, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    _head(spec, old, problems)
    # Without variables of its own a policy can't name `variables` at all, and what it can name is told in messages.
    variables = spec.get("variables")
    scope = _scope(spec, [] if variables else None)
    _variables(spec, scope, problems)
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        problems.required("spec.validations", ONE_AT_LEAST)
        problems.required("spec.auditAnnotations", ONE_AT_LEAST)
    for index, validation in enumerate(validations):
        _validation(validation, scope, f"spec.validations[{index}]", problems)
    if len(annotations) > MOST_ANNOTATIONS:
        why = f"must not have more than {MOST_ANNOTATIONS} auditAnnotations"
        problems.invalid("spec.auditAnnotations", annotations, why)
    keys = [each.get("key") or "" for each in annotations]
    for index, annotation in enumerate(annotations):
        here = f"spec.auditAnnotations[{index}]"
        _annotation(obj["metadata"].get("name") or "", annotation, scope, here, problems)
        if keys[index] in keys[:index]:
            problems.duplicate(f"{here}.key", keys[index])


def _mutating(obj: Json, old: Json | None, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    _head(spec, old, problems, only_mutating=True)
    scope = _scope(spec, [])
    _variables(spec, scope, problems)
    if not spec.get("mutations"):
        problems.required("spec.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(spec.get("mutations") or ()):
        _mutation(mutation, scope, f"spec.mutations[{index}]", problems)
    problems.one_of("spec.reinvocationPolicy", spec.get("reinvocationPolicy"), ("IfNeeded", "Never"))


def _head(spec: Json, old: Json | None, problems: Problems, *, only_mutating: bool = False) -> None:
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
            _only_mutating(match, "spec.matchConstraints", problems)
    before = (old or {}).get("spec") or {}
    if old is None or any(before.get(field) != spec.get(field) for field in ("paramKind", "matchConditions")):
        conditions = spec.get("matchConditions") or ()
        match_conditions(conditions, "spec.matchConditions", problems, params=kind is not None)


def _scope(spec: Json, variables: list[Json] | None) -> "Scope":
    # The engine takes long to import, and most servers never see a policy.
    from windvane.cluster.apiserver.expressions import Scope

    return Scope(params=spec.get("paramKind") is not None, variables=variables)


def _variables(spec: Json, scope: "Scope", problems: Problems) -> None:
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


def _validation(validation: Json, scope: "Scope", path: str, problems: Problems) -> None:
    from windvane.api.cel.types import BOOL, STRING

    expression, made = validation.get("expression") or "", validation.get("messageExpression") or ""
    if not expression.strip():
        problems.required(f"{path}.expression", "expression is not specified")
    else:
        compiles(scope.compile(expression, BOOL), f"{path}.expression", problems)
    if made and not made.strip():
        problems.invalid(f"{path}.messageExpression", made, "must be non-empty if specified")
    elif made:
        compiles(scope.compile(made, STRING, authorizer=False), f"{path}.messageExpression", problems)
    message = validation.get("message") or ""
    if message and not message.strip():
        problems.invalid(f"{path}.message", message, "must be non-empty if specified")
    elif re.search(r"[\n\r]", message.strip()):
        problems.invalid(f"{path}.message", message, "must not contain line breaks")
    if (reason := validation.get("reason")) is not None and reason not in REASONS:
        problems.unsupported(f"{path}.reason", reason, REASONS)


def _annotation(name: str, annotation: Json, scope: "Scope", path: str, problems: Problems) -> None:
    from windvane.api.cel.types import NULL, STRING

    key, stated = annotation.get("key") or "", annotation.get("valueExpression") or ""
    if name:
        qualified_name(f"{name}/{key}", f"{path}.key", problems)
    else:
        problems.invalid(f"{path}.key", key, "requires metadata.name be non-empty")
    expression = stated.strip()
    if not expression:
        problems.required(f"{path}.valueExpression", "valueExpression is not specified")
    elif len(expression.encode()) > LONGEST_VALUE:
        problems.required(f"{path}.valueExpression", f"must not exceed {LONGEST_VALUE} bytes in length")
    else:
        compiles(scope.compile(expression, STRING, NULL), f"{path}.valueExpression", problems, shown=stated)


_PATCHES: Mapping[str, tuple[str, str]] = {
    "ApplyConfiguration": ("applyConfiguration", "jsonPatch"),
    "JSONPatch": ("jsonPatch", "applyConfiguration"),
}


def _mutation(mutation: Json, scope: "Scope", path: str, problems: Problems) -> None:
    type_ = mutation.get("patchType") or ""
    if not type_:
        problems.required(f"{path}.patchType")
        return
    if type_ not in _PATCHES:
        problems.unsupported(f"{path}.patchType", type_, sorted(_PATCHES))
        return
    wanted, other = _PATCHES[type_]
    if mutation.get(wanted) is None:
        problems.required(f"{path}.{wanted}", f"must be specified when patchType is {type_}")
    elif not (expression := (mutation[wanted].get("expression") or "").strip()):
        problems.required(f"{path}.{wanted}.expression")
    else:
        from windvane.cluster.apiserver.expressions import PATCHES

        compiles(scope.compile_patch(expression, PATCHES[type_]), f"{path}.{wanted}.expression", problems)
    if mutation.get(other) is not None:
        problems.invalid(f"{path}.{other}", f"{{{other}}}", f"must not be specified when patchType is {type_}")


def _param_kind(kind: Json, problems: Problems) -> None:
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


def _binding(spec: Json, problems: Problems) -> None:
    """What both kinds of bindings begin with."""
    name = spec.get("policyName") or ""
    if not name:
        problems.required("spec.policyName")
    else:
        problems.all_invalid("spec.policyName", name, subdomain_problems(name))
    if (reference := spec.get("paramRef")) is not None:
        _param_ref(reference, "spec.paramRef", problems)
    if (match := spec.get("matchResources")) is not None:
        match_resources(match, "spec.matchResources", problems)


def _param_ref(reference: Json, path: str, problems: Problems) -> None:
    name, selector = reference.get("name") or "", reference.get("selector")
    if name:
        problems.all_invalid(f"{path}.name", name, path_segment_problems(name))
        if selector is not None:
            problems.forbidden(f"{path}.name", EITHER)
    if selector is not None:
        label_selector(selector, f"{path}.selector", problems)
        if name:
            problems.forbidden(f"{path}.selector", EITHER)
    if not name and selector is None:
        problems.required(path, "one of name or selector must be specified")
    problems.one_of(f"{path}.parameterNotFoundAction", reference.get("parameterNotFoundAction"), ("Deny", "Allow"))


def _only_mutating(match: Json, path: str, problems: Problems) -> None:
    for rule in match.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in MUTATING_OPERATIONS:
                problems.unsupported(f"{path}.resourceRules.operations", operation, MUTATING_OPERATIONS)
