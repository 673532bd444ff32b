"""The strategy of ValidatingAdmissionPolicy."""

import re
from typing import TYPE_CHECKING

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, count
from windvane.cluster.apiserver.registry.admissionregistration.match_rules import compiles
from windvane.cluster.apiserver.registry.admissionregistration.policy import (
    PolicyStrategy,
    head,
    scope_of,
    validate_variables,
)
from windvane.cluster.apiserver.registry.subresource import StatusOnlyStrategy
from windvane.cluster.apiserver.registry.validation.object_meta import qualified_name
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import admissionregistration

if TYPE_CHECKING:
    from windvane.cluster.apiserver.expressions import Scope

REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
MOST_ANNOTATIONS, LONGEST_VALUE = 20, 5 * 1024
ONE_AT_LEAST = "validations or auditAnnotations must contain at least one item"


class ValidatingAdmissionPolicyStatusStrategy(StatusOnlyStrategy):
    def validate_update(self, obj: Wire, _: Wire, problems: Problems) -> None:
        found = ((obj.get("status") or {}).get("typeChecking") or {}).get("expressionWarnings") or ()
        for index, warning in enumerate(found):
            for field in ("warning", "fieldRef"):
                if not (warning.get(field) or "").strip():
                    problems.required(f"status.typeChecking.expressionWarnings[{index}].{field}")


class ValidatingAdmissionPolicyStrategy(PolicyStrategy):
    model = admissionregistration.ValidatingAdmissionPolicy
    allow_unconditional_update = False
    defaults = {"status": {}}
    columns = (
        NAME,
        Column("Validations", count("spec.validations"), "integer"),
        PolicyStrategy.parameter_kind,
        AGE,
    )
    status = ValidatingAdmissionPolicyStatusStrategy()

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        _validating(obj, None, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """The same, but unchanged conditions may stay invalid."""
        super().validate_change(obj, old, problems)
        _validating(obj, old, problems)


def _validating(obj: Wire, old: Wire | None, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    head(spec, old, problems)
    # Without variables of its own a policy can't name `variables` at all, and what it can name is told in messages.
    variables = spec.get("variables")
    scope = scope_of(spec, [] if variables else None)
    validate_variables(spec, scope, problems)
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


def _validation(validation: Wire, scope: "Scope", path: str, problems: Problems) -> None:
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


def _annotation(name: str, annotation: Wire, scope: "Scope", path: str, problems: Problems) -> None:
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
