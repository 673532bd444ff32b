"""The columns of Events. They are in two API groups, under different names for the same fields."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.age import since
from windvane.cluster.apiserver.columns.column import Column, field, read, wide


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


EVENT = (
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
