"""Event of events.k8s.io, which is stored as the core group's Event, under other names for the same fields."""

from collections.abc import Mapping
from types import MappingProxyType

from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.resource import kind_of
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core import event as core_event
from windvane.cluster.apiserver.registry.core.event import check_event, object_reference_fields
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core, events

NEWER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "involvedObject": "regarding",
        "message": "note",
        "source": "deprecatedSource",
        "firstTimestamp": "deprecatedFirstTimestamp",
        "lastTimestamp": "deprecatedLastTimestamp",
        "count": "deprecatedCount",
        "reportingComponent": "reportingController",
    }
)
"""The fields of an Event in events.k8s.io, by their names in the core group."""
OLDER_NAMES: Mapping[str, str] = MappingProxyType({newer: older for older, newer in NEWER_NAMES.items()})
# The core group's Event has these even if they are empty, the newer one has not.
ALWAYS_IN_CORE = ("reportingComponent", "reportingInstance")
# The reason is checked twice, and told twice.
IMMUTABLE = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "reason", "type",
    "eventTime", "action", "related", "reportingController", "reportingInstance",
)  # fmt: skip


class EventStrategy(core_event.EventStrategy):
    """An Event under other names."""

    model = events.Event
    go_package = "core"
    selectable_fields = (*object_reference_fields("regarding"), "reason", "reportingController", "type")
    defaults = {"deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None, "deprecatedSource": {}}

    def field_label(self, obj: Wire, field: str) -> str:
        return BuiltinStrategy.field_label(self, obj, field)

    def validate(self, obj: Wire, problems: Problems) -> None:
        """What is asked of new Events and of changed ones differs."""

    @property
    def stored_kind(self) -> Kind:
        return kind_of(core.Event)

    def to_storage(self, wire: Wire) -> Wire:
        return from_newer(wire)

    def from_storage(self, wire: Wire) -> Wire:
        return to_newer(wire)

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        """Check a new Event. What is wrong is told in the core group's names, as the real server does."""
        older = from_newer(obj)
        check_event(older, "reportingController", problems)
        _check_series(older, problems)
        if not older.get("eventTime"):
            problems.required("eventTime")
        if older.get("type") not in ("Normal", "Warning"):
            problems.invalid("type", "", f"has invalid value: {older.get('type', '')}")
        for name in ("firstTimestamp", "lastTimestamp", "count", "source"):
            if older.get(name):
                problems.invalid(name, "", "needs to be unset")

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check that only its series goes on."""
        super().validate_change(obj, old, problems)
        older, before = from_newer(obj), from_newer(old)
        check_event(older, "reportingController", problems)
        if older.get("series") != before.get("series"):
            _check_series(older, problems)
        for name in IMMUTABLE:
            stored = "reportingComponent" if name == "reportingController" else name
            problems.immutable(name, older.get(stored), before.get(stored))


def from_newer(newer: Wire) -> Wire:
    """An Event of events.k8s.io in the core group's form."""
    older = {OLDER_NAMES.get(name, name): value for name, value in newer.items()}
    return {"eventTime": None, "involvedObject": {}, **dict.fromkeys(ALWAYS_IN_CORE, ""), **older}


def to_newer(older: Wire) -> Wire:
    """An Event of the core group in the form of events.k8s.io."""
    return {
        NEWER_NAMES.get(name, name): value for name, value in older.items() if value != "" or name not in ALWAYS_IN_CORE
    }


def _check_series(older: Wire, problems: Problems) -> None:
    if (series := older.get("series")) is None:
        return
    if series.get("count", 0) < 2:
        problems.invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        problems.required("series.lastObservedTime")
