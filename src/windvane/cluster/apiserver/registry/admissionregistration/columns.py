"""Columns that several kinds of admission configuration share."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, count, field, read

WEBHOOK_CONFIGURATION = (NAME, Column("Webhooks", count("webhooks"), "integer"), AGE)


def parameter_kind(policy: Wire) -> str:
    kind = read(policy, "spec.paramKind")
    return "<unset>" if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


def _parameters(binding: Wire) -> str:
    reference = read(binding, "spec.paramRef") or {}
    if name := reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{name}"
    selector = reference.get("selector")
    return "<unset>" if selector is None else _as_go_prints_it(selector)


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


ADMISSION_POLICY_BINDING = (
    NAME,
    Column("PolicyName", field("spec.policyName")),
    Column("ParamRef", _parameters),
    AGE,
)
