"""The strategy of ResourceQuota."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, quantity, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

OBJECTS = frozenset(
    {
        "configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets",
        "services", "services.loadbalancers", "services.nodeports",
    }
)  # fmt: skip
AMOUNTS = ("cpu", "memory", "ephemeral-storage")
STANDARD = frozenset(
    {*OBJECTS, *AMOUNTS, "requests.storage", *(f"{of}.{name}" for of in ("requests", "limits") for name in AMOUNTS)}
)
OF_PODS = frozenset({"pods", *(name for name in STANDARD if name.endswith(("cpu", "memory")))})
# What can be counted in each scope, of what has a plain name.
SCOPES = {
    "Terminating": OF_PODS,
    "NotTerminating": OF_PODS,
    "BestEffort": frozenset({"pods"}),
    "NotBestEffort": OF_PODS,
    "PriorityClass": OF_PODS,
    "CrossNamespacePodAffinity": OF_PODS,
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
CONFLICTS = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
SELECTIVE = ("PriorityClass", "VolumeAttributesClass")
ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
UNFIT = "unsupported scope applied to resource"


class ResourceQuotaStatusStrategy(StatusStrategy):
    def validate_update(self, obj: Wire, _: Wire, problems: Problems) -> None:
        for field in ("hard", "used"):
            _amounts((obj.get("status") or {}).get(field) or {}, f"status.{field}", problems)


class ResourceQuotaStrategy(BuiltinStrategy):
    model = core.ResourceQuota
    returned_when_deleted = True
    defaults = {"spec": {}, "status": {}}
    columns = (
        NAME,
        Column("Request", lambda quota: _quota(quota, limits=False)),
        Column("Limit", lambda quota: _quota(quota, limits=True)),
        AGE,
    )
    status = ResourceQuotaStatusStrategy()

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj["spec"]
        hard = spec.get("hard") or {}
        _amounts(hard, "spec.hard", problems)
        scopes = spec.get("scopes") or []
        for scope in scopes:
            if scope not in SCOPES:
                problems.invalid("spec.scopes", scopes, "unsupported scope")
            for _ in _unfit(scope, hard):
                problems.invalid("spec.scopes", scopes, UNFIT)
        for conflict in CONFLICTS:
            if conflict <= set(scopes):
                problems.invalid("spec.scopes", scopes, "conflicting scopes")
        if selector := spec.get("scopeSelector"):
            _selector(selector, spec, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        now, was = (sorted(each["spec"].get("scopes") or ()) for each in (obj, old))
        if now != was:
            problems.invalid("spec.scopes", obj["spec"].get("scopes"), "field is immutable")

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        hard = obj["spec"].get("hard") or {} if old is None else {}
        for name in ("cpu", "memory", "storage", "ephemeral-storage"):
            bare = f"requests.{name}" not in hard and name in ("cpu", "memory")
            request, limit = name if bare else f"requests.{name}", f"limits.{name}"
            if request in hard and limit in hard:
                asked, allowed = Quantity.from_wire(hard[request]), Quantity.from_wire(hard[limit])
                if asked > allowed:
                    yield f"ResourceQuota {request} ({asked}) should be less than {limit} ({allowed})"


def _quota(quota: Wire, *, limits: bool) -> str:
    """What is used of what is allowed; `limits.cpu` and the like have a column of their own."""
    hard, used = read(quota, "status.hard") or {}, read(quota, "status.used") or {}
    return ", ".join(
        f"{resource}: {quantity(used.get(resource))}/{quantity(amount)}"
        for resource, amount in sorted(hard.items())
        if resource.startswith("limits.") is limits
    )


def _amounts(amounts: Wire, path: str, problems: Problems) -> None:
    for name, amount in amounts.items():
        here = f"{path}[{name}]"
        unreadable = label_key_problems(name)
        problems.all_invalid(here, name, unreadable)
        if "/" not in name and not _is_standard(name):
            if name != "storage" and not unreadable:
                problems.invalid(here, name, "must be a standard resource type or fully qualified")
            problems.invalid(here, name, "must be a standard resource for quota")
        if Quantity(amount) < Quantity(0):
            problems.invalid(here, amount, "must be greater than or equal to 0")
        if (name in OBJECTS or name.startswith("count/")) and Quantity(amount).value % 1:
            problems.invalid(here, amount, "must be an integer")


def _is_standard(name: str) -> bool:
    return name in STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))


def _unfit(scope: str, hard: Wire) -> Iterator[str]:
    """What is to be counted and never is in a scope."""
    if scope in SCOPES:
        yield from (name for name in hard if _is_standard(name) and name not in SCOPES[scope])


def _selector(selector: Wire, spec: Wire, problems: Problems) -> None:
    path, expressions = "spec.scopeSelector.matchExpressions", selector.get("matchExpressions") or []
    for each in expressions:
        scope, operator, values = each.get("scopeName", ""), each.get("operator", ""), each.get("values") or []
        if scope not in SCOPES:
            problems.invalid(f"{path}.scopeName", scope, "unsupported scope")
        for _ in _unfit(scope, spec.get("hard") or {}):
            problems.invalid(path, _shown(expressions), UNFIT)
        if scope in SCOPES and scope not in SELECTIVE and operator != "Exists":
            problems.invalid(f"{path}.operator", operator, ONLY_EXISTS)
        if operator in ("In", "NotIn"):
            if not values:
                rule = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                problems.required(f"{path}.values", rule)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                rule = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                problems.invalid(f"{path}.values", values, rule)
        else:
            problems.invalid(f"{path}.operator", operator, "not a valid selector operator")
    for conflict in CONFLICTS:
        if conflict <= {each.get("scopeName") for each in expressions}:
            problems.invalid(path, spec.get("scopes"), "conflicting scopes")


def _shown(expressions: list[Wire]) -> Wire:
    """Expressions as messages show them, by the names that their fields have inside of the server."""
    fields = ("scopeName", "operator", "values")
    return {
        "MatchExpressions": [
            {f"{name[0].upper()}{name[1:]}": each.get(name) for name in fields} for each in expressions
        ]
    }
