"""The strategy of Event, and what both API groups that have Events ask of them."""

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.api.resource import Object
from windvane.cluster.apiserver.columns.age import since
from windvane.cluster.apiserver.columns.column import Column, field, read, wide
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.field_path import field_text
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

LONGEST = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}


def object_reference_fields(field: str) -> tuple[str, ...]:
    """The fields of a reference that Events can be selected by."""
    parts = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
    return tuple(f"{field}.{part}" for part in parts)


def _first_seen(event: Wire) -> str:
    return since(event.get("firstTimestamp") or event.get("eventTime"))


def _last_seen(event: Wire) -> str:
    if (series := event.get("series")) is not None:
        return since(series.get("lastObservedTime"))
    last = event.get("lastTimestamp")
    return since(last) if last else _first_seen(event)


def _times(event: Wire) -> int:
    if (series := event.get("series")) is not None:
        return series.get("count") or 0
    return event.get("count") or 1


def _about(event: Wire) -> str:
    kind, name = (read(event, "involvedObject.kind") or "").lower(), read(event, "involvedObject.name")
    return f"{kind}/{name}" if name else kind


def _source(event: Wire) -> str:
    component = read(event, "source.component") or event.get("reportingComponent") or ""
    instance = read(event, "source.host") or event.get("reportingInstance")
    return f"{component}, {instance}" if instance else component


class EventStrategy(BuiltinStrategy):
    """Event."""

    model: type[Object] = core.Event
    allow_create_on_update = True
    can_have_dependents = False
    selectable_fields = (
        *object_reference_fields("involvedObject"), "reason", "reportingComponent", "source", "type",
    )  # fmt: skip
    defaults = {
        "eventTime": None,
        "firstTimestamp": None,
        "lastTimestamp": None,
        "reportingComponent": "",
        "reportingInstance": "",
        "source": {},
    }
    columns = (
        Column("Last Seen", _last_seen),
        Column("Type", field("type")),
        Column("Reason", field("reason")),
        Column("Object", _about),
        wide("Subobject", field("involvedObject.fieldPath")),
        wide("Source", _source),
        Column("Message", lambda event: (event.get("message") or "").strip()),
        wide("First Seen", _first_seen),
        wide("Count", _times),
        Column("Name", field("metadata.name"), format="name", priority=1),
    )
    column_fields = {
        "Last Seen": "core.v1.Event.lastTimestamp",
        "Type": "core.v1.Event.type",
        "Reason": "core.v1.Event.reason",
        "Object": "core.v1.Event.involvedObject",
        "Subobject": "core.v1.ObjectReference.fieldPath",
        "Source": "core.v1.Event.source",
        "Message": "core.v1.Event.message",
        "First Seen": "core.v1.Event.firstTimestamp",
        "Count": "core.v1.Event.count",
    }

    def field_label(self, obj: Wire, field: str) -> str:
        """`source` of newer Events is `reportingController`."""
        if field == "source":
            return field_text(obj, "source.component") or field_text(obj, "reportingComponent")
        return super().field_label(obj, field)

    def validate(self, obj: Wire, problems: Problems) -> None:
        check_event(obj, "reportingComponent", problems)


def check_event(older: Wire, reporting: str, problems: Problems) -> None:
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
