"""The strategy of CustomResourceDefinition."""

from collections.abc import Iterable

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.apiextensions.definition.status import (
    begin_termination,
    first_status,
    note_stored_version,
)
from windvane.cluster.apiserver.registry.apiextensions.definition.validation import (
    check_definition,
    definition_warnings,
)
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill, fill_path
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import apiextensions


class CustomResourceDefinitionStrategy(BuiltinStrategy):
    model = apiextensions.CustomResourceDefinition
    has_generation = True
    allow_unconditional_update = False
    is_container = True
    free_form = True
    is_costly = True
    any_finalizer = True

    def set_defaults(self, obj: Wire) -> None:
        spec = obj.setdefault("spec", {})
        names = spec.setdefault("names", {})
        if kind := names.get("kind"):
            fill(names, "singular", kind.lower())
            fill(names, "listKind", f"{kind}List")
        fill_path(spec, "conversion.strategy", "None")
        if service := (spec["conversion"].get("webhook") or {}).get("clientConfig", {}).get("service"):
            fill(service, "port", 443)

    def prepare_for_create(self, obj: Wire) -> None:
        first_status(obj)

    def prepare_change(self, obj: Wire, old: Wire) -> None:
        del old
        if "status" in obj:
            note_stored_version(obj)

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        problems.extend(check_definition(obj))

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check a changed definition; what was invalid before may stay so."""
        problems.extend(check_definition(obj, old))

    def warn(self, obj: Wire, old: Wire | None) -> Iterable[str]:
        return definition_warnings(obj, old)

    def begin_termination(self, wire: Wire) -> None:
        begin_termination(wire)
