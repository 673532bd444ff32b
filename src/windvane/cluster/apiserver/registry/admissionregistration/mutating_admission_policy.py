"""The strategy of MutatingAdmissionPolicy."""

from collections.abc import Mapping
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
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import admissionregistration

if TYPE_CHECKING:
    from windvane.cluster.apiserver.expressions import Scope

_PATCHES: Mapping[str, tuple[str, str]] = {
    "ApplyConfiguration": ("applyConfiguration", "jsonPatch"),
    "JSONPatch": ("jsonPatch", "applyConfiguration"),
}


class MutatingAdmissionPolicyStrategy(PolicyStrategy):
    model = admissionregistration.MutatingAdmissionPolicy
    columns = (
        NAME,
        Column("Mutations", count("spec.mutations"), "integer"),
        PolicyStrategy.parameter_kind,
        AGE,
    )

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        _mutating(obj, None, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """The same, but unchanged conditions may stay invalid."""
        super().validate_change(obj, old, problems)
        _mutating(obj, old, problems)


def _mutating(obj: Wire, old: Wire | None, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    head(spec, old, problems, only_mutating=True)
    scope = scope_of(spec, [])
    validate_variables(spec, scope, problems)
    if not spec.get("mutations"):
        problems.required("spec.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(spec.get("mutations") or ()):
        _mutation(mutation, scope, f"spec.mutations[{index}]", problems)
    problems.one_of("spec.reinvocationPolicy", spec.get("reinvocationPolicy"), ("IfNeeded", "Never"))


def _mutation(mutation: Wire, scope: "Scope", path: str, problems: Problems) -> None:
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
