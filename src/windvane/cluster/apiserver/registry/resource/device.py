"""One device in a ResourceSlice."""

import re
from collections.abc import Callable

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems, label_value_problems, subdomain_problems
from windvane.cluster.apiserver.registry.resource.binding_conditions import binding_conditions
from windvane.cluster.apiserver.registry.resource.device_capacity import capacity_of_many, capacity_of_one
from windvane.cluster.apiserver.registry.resource.device_names import (
    LONGEST_QUALIFIED_NAME,
    label_name,
    qualified_name,
)
from windvane.cluster.apiserver.registry.resource.device_taint import EFFECTS
from windvane.cluster.apiserver.registry.resource.lists import check_list, check_map, check_set
from windvane.cluster.apiserver.registry.validation.node_selector import node_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems, same

MOST_NAMES, MOST_ATTRIBUTE_VALUES = 32, 48
MOST_TAINTS = 16
MOST_COUNTER_SETS = 2
MOST_COUNTERS = 32
LONGEST_LABEL = 63
LONGEST_VALUE = 64
UNSET_OR_TRUE = "must be either unset or set to true"
_ONE_NODE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NO_NODE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_NUMBER = r"(0|[1-9]\d*)"
_PRE_RELEASE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = "[0-9a-zA-Z-]+"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?", re.ASCII
)


def device(found: Wire, before: Wire | None, path: str, problems: Problems, *, has_nodes: bool) -> None:
    """Check a device; `has_nodes`, if each device of the slice says on which nodes it can be used."""
    label_name(found.get("name") or "", f"{path}.name", problems)
    attributes, capacity = found.get("attributes") or {}, found.get("capacity") or {}
    if (count := len(attributes) + len(capacity)) > MOST_NAMES:
        problems.invalid(path, count, f"the total number of attributes and capacities must not exceed {MOST_NAMES}")
    if len(attributes) > MOST_ATTRIBUTE_VALUES:
        rule = f"the total number of attribute values must not exceed {MOST_ATTRIBUTE_VALUES}"
        problems.invalid(path, len(attributes), rule)
    _named(attributes, _attribute, f"{path}.attributes", problems)
    one_capacity = capacity_of_many if found.get("allowMultipleAllocations") else capacity_of_one
    _named(capacity, one_capacity, f"{path}.capacity", problems)
    taints = found.get("taints") or []
    if before is None or not same(before.get("taints"), taints):
        check_list(taints, MOST_TAINTS, _taint, f"{path}.taints", problems)
    consumed = found.get("consumesCounters") or []
    check_set(consumed, MOST_COUNTER_SETS, _consumption, _counter_set, f"{path}.consumesCounters", problems)
    if has_nodes:
        _nodes(found, path, problems)
    elif any(found.get(field) is not None for field in ("nodeName", "nodeSelector", "allNodes")):
        problems.invalid(path, None, _NO_NODE)
    binding_conditions(found, path, problems)


def counters(found: Wire, path: str, problems: Problems) -> None:
    """Check counters, by their names; there must be some."""
    if not found:
        problems.required(path)
        return
    check_map(found, MOST_COUNTERS, LONGEST_LABEL, path, problems, key=label_name, value=lambda *_: None)


def counter_name(name: str, path: str, problems: Problems) -> None:
    """Check the name of a set of counters, which must be there."""
    if name:
        label_name(name, path, problems)
    else:
        problems.required(path)


def chosen_nodes(found: Wire, path: str, problems: Problems, empty_name: str) -> list[str]:
    """Check a node's name and a node selector; the names of those that are there, as messages have them."""
    chosen = []
    if (name := found.get("nodeName")) is not None:
        if name:
            chosen.append("`nodeName`")
            problems.all_invalid(f"{path}.nodeName", name, subdomain_problems(name))
        else:
            problems.invalid(f"{path}.nodeName", "", empty_name)
    if (selector := found.get("nodeSelector")) is not None:
        chosen.append("`nodeSelector`")
        node_selector(selector, f"{path}.nodeSelector", problems)
    return chosen


def flag(found: Wire, field: str, path: str, problems: Problems) -> list[str]:
    """Check a field that may only be true or absent; its name, as messages have it, if it is true."""
    if found.get(field) is False:
        problems.invalid(f"{path}.{field}", False, UNSET_OR_TRUE)
    return [f"`{field}`"] if found.get(field) else []


def _nodes(found: Wire, path: str, problems: Problems) -> None:
    chosen = chosen_nodes(found, path, problems, "must not be empty") + flag(found, "allNodes", path, problems)
    if not chosen:
        problems.required(path, _ONE_NODE)
    elif len(chosen) > 1:
        problems.invalid(path, f"{{{', '.join(chosen)}}}", _ONE_NODE)


def _named(found: Wire, check: Callable[[Wire, str, Problems], None], path: str, problems: Problems) -> None:
    check_map(found, None, LONGEST_QUALIFIED_NAME, path, problems, key=qualified_name, value=check)


def _attribute(found: Wire, path: str, problems: Problems) -> None:
    if (text := found.get("string")) is not None and len(text.encode()) > LONGEST_VALUE:
        problems.too_long(f"{path}.string", LONGEST_VALUE)
    if (version := found.get("version")) is not None:
        if not _SEMVER.fullmatch(version):
            rule = "must be a string compatible with semver.org spec 2.0.0"
            problems.invalid(f"{path}.version", version, rule)
        if len(version.encode()) > LONGEST_VALUE:
            problems.too_long(f"{path}.version", LONGEST_VALUE)
    stated = [field for field in ("bool", "int", "string", "version") if found.get(field) is not None]
    if not stated:
        problems.invalid(path, "", "exactly one value must be specified")
    elif len(stated) > 1:
        problems.invalid(path, _shown_attribute(found), "exactly one value must be specified")


def _shown_attribute(found: Wire) -> Wire:
    """An attribute as the message has it, in Go's words."""
    words = (("IntValue", "int"), ("BoolValue", "bool"), ("StringValue", "string"), ("VersionValue", "version"))
    shown = {name: found.get(field) for name, field in words}
    return shown | {f"{name}s": None for name in shown}


def _taint(found: Wire, path: str, problems: Problems) -> None:
    key = found.get("key") or ""
    problems.all_invalid(f"{path}.key", key, label_key_problems(key))
    if value := found.get("value"):
        problems.all_invalid(f"{path}.value", value, label_value_problems(value))
    problems.one_of(f"{path}.effect", found.get("effect"), EFFECTS)


def _counter_set(found: Wire) -> str:
    return found.get("counterSet") or ""


def _consumption(found: Wire, path: str, problems: Problems) -> None:
    counter_name(_counter_set(found), f"{path}.counterSet", problems)
    counters(found.get("counters") or {}, f"{path}.counters", problems)
