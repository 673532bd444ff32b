"""What the bindings of validating and of mutating admission policies have in common."""

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems, subdomain_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, read
from windvane.cluster.apiserver.registry.admissionregistration.match_rules import (
    default_match_resources,
    match_resources,
)
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems

EITHER = "name and selector are mutually exclusive"


def _parameters(binding: Wire) -> str:
    reference = read(binding, "spec.paramRef") or {}
    if name := reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{name}"
    selector = reference.get("selector")
    return "<unset>" if selector is None else _as_go_prints_it(selector)


class PolicyBindingStrategy(BuiltinStrategy):
    """A policy, with parameters, for some objects."""

    has_generation = True
    is_costly = True
    columns = (NAME, Column("PolicyName", field("spec.policyName")), Column("ParamRef", _parameters), AGE)

    def set_defaults(self, obj: Wire) -> None:
        default_match_resources(obj.get("spec", {}).get("matchResources"))

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj.get("spec") or {}
        name = spec.get("policyName") or ""
        if not name:
            problems.required("spec.policyName")
        else:
            problems.all_invalid("spec.policyName", name, subdomain_problems(name))
        if (reference := spec.get("paramRef")) is not None:
            _param_ref(reference, "spec.paramRef", problems)
        if (match := spec.get("matchResources")) is not None:
            match_resources(match, "spec.matchResources", problems)


def _as_go_prints_it(selector: Wire) -> str:
    """A label selector as the real server shows it here, and only here: as Go prints the struct."""
    pairs = sorted((selector.get("matchLabels") or {}).items())
    labels = "".join(f"{key}: {value}," for key, value in pairs)
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _param_ref(reference: Wire, path: str, problems: Problems) -> None:
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
