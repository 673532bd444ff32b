"""Events, which are in two API groups and stored once, as the core group knows them; and what both ask of them.

An Event that is written through one group is read through the other, under that group's names for its fields. The
newer group asks for more: who reports what, and when.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from windvane.api.names import label_key_problems
from windvane.cluster.apiserver.builtin.problems import Problems

Json = dict[str, Any]

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

LONGEST = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
# The reason is checked twice, and told twice.
IMMUTABLE = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "reason", "type",
    "eventTime", "action", "related", "reportingController", "reportingInstance",
)  # fmt: skip


def from_newer(newer: Json) -> Json:
    """An Event of events.k8s.io in the core group's form."""
    older = {OLDER_NAMES.get(name, name): value for name, value in newer.items()}
    return {"eventTime": None, "involvedObject": {}, **dict.fromkeys(ALWAYS_IN_CORE, ""), **older}


def to_newer(older: Json) -> Json:
    """An Event of the core group in the form of events.k8s.io."""
    return {
        NEWER_NAMES.get(name, name): value for name, value in older.items() if value != "" or name not in ALWAYS_IN_CORE
    }


def event(obj: Json, problems: Problems) -> None:
    """Check an Event of the core group."""
    _check(obj, "reportingComponent", problems)


def newer_event(obj: Json, problems: Problems) -> None:
    """Check a new Event of events.k8s.io. What is wrong is told in the core group's names, as the real server does."""
    older = from_newer(obj)
    _check(older, "reportingController", problems)
    _check_series(older, problems)
    if not older.get("eventTime"):
        problems.required("eventTime")
    if older.get("type") not in ("Normal", "Warning"):
        problems.invalid("type", "", f"has invalid value: {older.get('type', '')}")
    for name in ("firstTimestamp", "lastTimestamp", "count", "source"):
        if older.get(name):
            problems.invalid(name, "", "needs to be unset")


def changed_newer_event(obj: Json, old: Json, problems: Problems) -> None:
    """Check that of an Event of events.k8s.io only its series goes on."""
    older, before = from_newer(obj), from_newer(old)
    _check(older, "reportingController", problems)
    if older.get("series") != before.get("series"):
        _check_series(older, problems)
    for name in IMMUTABLE:
        stored = "reportingComponent" if name == "reportingController" else name
        problems.immutable(name, older.get(stored), before.get(stored))


def _check(older: Json, reporting: str, problems: Problems) -> None:
    """What is asked in both groups; more of Events that say when they happened, as those of the newer group do."""
    namespace, about = older["metadata"].get("namespace", ""), (older.get("involvedObject") or {}).get("namespace", "")
    if not older.get("eventTime"):
        if namespace != (about or "default"):
            problems.invalid("involvedObject.namespace", about, "does not match event.namespace")
        return
    if not about and namespace not in ("default", "kube-system"):
        problems.invalid("involvedObject.namespace", about, "does not match event.namespace")
    reporter = older.get("reportingComponent") or ""
    if not reporter:
        problems.required(reporting)
    problems.all_invalid(reporting, reporter, label_key_problems(reporter))
    for name, longest in LONGEST.items():
        value = older.get(name) or ""
        if not value and name != "message":
            problems.required(name)
        if len(value.encode()) > longest:
            problems.invalid(name, "", f"can have at most {longest} characters")


def _check_series(older: Json, problems: Problems) -> None:
    if (series := older.get("series")) is None:
        return
    if series.get("count", 0) < 2:
        problems.invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        problems.required("series.lastObservedTime")
