"""ResourceSlice."""

from collections.abc import Iterator
from typing import Any

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.api.time import format_time
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill, fill_zero
from windvane.cluster.apiserver.registry.resource.device import chosen_nodes, counter_name, counters, device, flag
from windvane.cluster.apiserver.registry.resource.device_names import driver_name, pool_name
from windvane.cluster.apiserver.registry.resource.lists import check_set
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import resource

MOST_DEVICES = 128
MOST_ELABORATE_DEVICES = 64
"""If one of them has taints, or shares counters."""
MOST_COUNTER_SETS = 8
_ONE_OF = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_DISABLED_VALUES = ("bools", "ints", "strings", "versions")


class ResourceSliceStrategy(BuiltinStrategy):
    """ResourceSlice."""

    model = resource.ResourceSlice
    has_generation = True
    returned_when_deleted = True
    selectable_fields = ("spec.driver", "spec.nodeName")
    columns = (
        NAME,
        Column("Node", field("spec.nodeName")),
        Column("Driver", field("spec.driver")),
        Column("Pool", field("spec.pool.name")),
        AGE,
    )
    column_fields = {
        "Node": "resource.v1.ResourceSliceSpec.nodeName",
        "Driver": "resource.v1.ResourceSliceSpec.driver",
        "Pool": "resource.v1.ResourcePool.name",
    }

    def unknown_field_label(self, field: str) -> str:
        """The refusal of a field that can't be selected by."""
        return f"field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {field}"

    def set_defaults(self, obj: Wire) -> None:
        """Fill in what Go always writes, and when taints were added."""
        spec = obj.setdefault("spec", {})
        fill_zero(spec.setdefault("pool", {}), "generation", 0)
        for each in spec.get("devices") or ():
            for capacity in (each.get("capacity") or {}).values():
                fill(capacity, "value", "0")
                if (policy := capacity.get("requestPolicy")) is not None:
                    policy.setdefault("default", None)
            for taint in each.get("taints") or ():
                fill(taint, "timeAdded", format_time(ambient.now()))
            _fill_counters(each.get("consumesCounters") or ())
        _fill_counters(spec.get("sharedCounters") or ())

    def prepare_for_create(self, wire: Wire) -> None:
        """Take away what has no effect unless a server is told that it has."""
        _drop_disabled(wire["spec"])

    def prepare_change(self, obj: Wire, old: Wire) -> None:
        """The same for a change."""
        del old
        _drop_disabled(obj["spec"])

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        """Check a new slice."""
        driver_name(obj["spec"].get("driver") or "", "spec.driver", problems)
        _pool(obj["spec"]["pool"], problems)
        _slice(obj["spec"], {}, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check a changed slice."""
        spec, before = obj["spec"], old["spec"]
        driver_name(spec.get("driver") or "", "spec.driver", problems)
        _pool(spec["pool"], problems)
        problems.immutable("spec.pool.name", spec["pool"].get("name", ""), before["pool"].get("name", ""))
        for each in ("driver", "nodeName"):
            problems.immutable(f"spec.{each}", spec.get(each), before.get(each))
        _slice(spec, before, problems)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        """Capitals in a driver's name are allowed, for now."""
        del old
        name = obj["spec"].get("driver") or ""
        if name != name.lower():
            yield f'spec.driver: driver names should be lowercase; "{name}" contains uppercase characters'


def _fill_counters(sets: Any) -> None:
    for each in sets:
        for counter in (each.get("counters") or {}).values():
            fill(counter, "value", "0")


def _drop_disabled(spec: Wire) -> None:
    """Lists as attributes, and devices that count as a node's own resources, are behind feature gates."""
    for each in spec.get("devices") or ():
        each.pop("nodeAllocatableResourceMappings", None)
        for attribute in (each.get("attributes") or {}).values():
            for name in _DISABLED_VALUES:
                attribute.pop(name, None)


def _pool(pool: Wire, problems: Problems) -> None:
    pool_name(pool.get("name") or "", "spec.pool.name", problems)
    if (count := pool.get("resourceSliceCount") or 0) <= 0:
        problems.invalid("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if (generation := pool["generation"]) < 0:
        problems.invalid("spec.pool.generation", generation, "must be greater than or equal to zero")


def _slice(spec: Wire, before: Wire, problems: Problems) -> None:
    chosen = chosen_nodes(spec, "spec", problems, "must be either unset or set to a non-empty string")
    terms = (spec.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if spec.get("nodeSelector") is not None and len(terms) != 1:
        rule = "must have exactly one node selector term"
        problems.invalid("spec.nodeSelector.nodeSelectorTerms", [_shown_term(each) for each in terms] or None, rule)
    for each in ("allNodes", "perDeviceNodeSelection"):
        chosen += flag(spec, each, "spec", problems)
    if not chosen:
        problems.required("spec", _ONE_OF)
    elif len(chosen) > 1:
        problems.invalid("spec", f"{{{', '.join(chosen)}}}", f"{_ONE_OF}, but multiple fields are set")
    devices, shared = spec.get("devices") or [], spec.get("sharedCounters") or []
    if devices and shared:
        problems.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    _devices(devices, {_name(each): each for each in reversed(before.get("devices") or ())}, spec, problems)
    check_set(shared, MOST_COUNTER_SETS, _counter_set, _name, "spec.sharedCounters", problems)


def _shown_term(term: Wire) -> Wire:
    """A term as the message has it, in Go's words."""
    shown: Wire = {}
    for name, key in (("MatchExpressions", "matchExpressions"), ("MatchFields", "matchFields")):
        found = term.get(key)
        shown[name] = found and [
            {"Key": each.get("key", ""), "Operator": each.get("operator", ""), "Values": each.get("values")}
            for each in found
        ]
    return shown


def _devices(devices: list[Wire], before: dict[str, Wire], spec: Wire, problems: Problems) -> None:
    has_nodes = bool(spec.get("perDeviceNodeSelection"))
    is_elaborate = any(each.get("taints") or each.get("consumesCounters") for each in devices)

    def check(found: Wire, path: str, problems: Problems) -> None:
        device(found, before.get(_name(found)), path, problems, has_nodes=has_nodes)

    most = MOST_ELABORATE_DEVICES if is_elaborate else MOST_DEVICES
    check_set(devices, most, check, _name, "spec.devices", problems)


def _name(found: Wire) -> str:
    return found.get("name") or ""


def _counter_set(found: Wire, path: str, problems: Problems) -> None:
    counter_name(_name(found), f"{path}.name", problems)
    counters(found.get("counters") or {}, f"{path}.counters", problems)
