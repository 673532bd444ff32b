"""The strategy of LimitRange."""

from windvane.api.json_value import Wire
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.containers import may_overcommit, resource_name
from windvane.cluster.apiserver.registry.validation.object_meta import qualified_name
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

TYPES = ("Pod", "Container", "PersistentVolumeClaim")
FIELDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


class LimitRangeStrategy(BuiltinStrategy):
    model = core.LimitRange
    allow_create_on_update = True
    defaults = {"spec.limits": None}

    def set_defaults(self, obj: Wire) -> None:
        """Complete the limits of containers: `max` is the default limit, which is the default request."""
        for item in obj["spec"].get("limits") or ():
            if item.get("type") != "Container":
                continue
            default = item.get("max", {}) | item.get("default", {})
            request = item.get("min", {}) | default | item.get("defaultRequest", {})
            item |= {name: value for name, value in (("default", default), ("defaultRequest", request)) if value}

    def validate(self, obj: Wire, problems: Problems) -> None:
        types: set[str] = set()
        for index, item in enumerate(obj["spec"].get("limits") or ()):
            path, type_ = f"spec.limits[{index}]", item.get("type", "")
            _type(type_, f"{path}.type", problems)
            if type_ in types:
                problems.duplicate(f"{path}.type", type_)
            types.add(type_)
            _item(item, path, problems)


def _type(type_: str, path: str, problems: Problems) -> None:
    known = len(problems)
    qualified_name(type_, path, problems)
    if len(problems) == known and type_ not in TYPES and "/" not in type_:
        problems.invalid(path, type_, "must be a standard limit type or fully qualified")


def _item(item: Wire, path: str, problems: Problems) -> None:
    type_ = item.get("type", "")
    stated = {field: item.get(field) or {} for field in FIELDS}
    for field, amounts in stated.items():
        if type_ == "Pod" and field.startswith("default"):
            if amounts:
                problems.forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
                stated[field] = {}
        elif type_ in ("Pod", "Container"):
            for name in amounts:
                resource_name(name, f"{path}.{field}[{name}]", problems)
    if type_ == "PersistentVolumeClaim" and "storage" not in stated["min"] | stated["max"]:
        rule = "either minimum or maximum storage value is required, but neither was provided"
        problems.required(f"{path}.limits", rule)
    for name in sorted({name for amounts in stated.values() for name in amounts}):
        amounts = {field: Quantity.from_wire(of[name]) for field, of in stated.items() if name in of}
        _bounds(amounts, name, path, problems)
        _ratio(amounts, f"{path}.maxLimitRequestRatio[{name}]", problems)
        limit, request = amounts.get("default"), amounts.get("defaultRequest")
        if limit is not None and request is not None and limit != request and not may_overcommit(name):
            rule = f"default value {limit} must equal to defaultRequest value {request} in {name}"
            problems.invalid(f"{path}.defaultRequest[{name}]", str(request), rule)


def _bounds(amounts: dict[str, Quantity], name: str, path: str, problems: Problems) -> None:
    words = {"min": "min", "max": "max", "defaultRequest": "default request", "default": "default"}
    # What may not be above what, which field is blamed, and which of both is shown as wrong.
    for lower, upper, blamed, wrong in (
        ("min", "max", "min", "min"),
        ("min", "defaultRequest", "defaultRequest", "defaultRequest"),
        ("defaultRequest", "max", "defaultRequest", "defaultRequest"),
        ("defaultRequest", "default", "defaultRequest", "defaultRequest"),
        ("min", "default", "default", "min"),
        ("default", "max", "default", "max"),
    ):
        if lower in amounts and upper in amounts and amounts[lower] > amounts[upper]:
            above = "default limit" if (lower, upper) == ("defaultRequest", "default") else words[upper]
            rule = f"{words[lower]} value {amounts[lower]} is greater than {above} value {amounts[upper]}"
            problems.invalid(f"{path}.{blamed}[{name}]", str(amounts[wrong]), rule)


def _ratio(amounts: dict[str, Quantity], path: str, problems: Problems) -> None:
    if (ratio := amounts.get("maxLimitRequestRatio")) is None:
        return
    if ratio < Quantity(1):
        problems.invalid(path, str(ratio), f"ratio {ratio} is less than 1")
    least, most = amounts.get("min"), amounts.get("max")
    if least and most is not None and ratio.milli() / 1000 > (possible := most.milli() / least.milli()):
        problems.invalid(path, str(ratio), f"ratio {ratio} is greater than max/min = {possible:f}")
