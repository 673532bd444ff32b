"""Columns of Events. They are in two API groups, under different names for the same fields."""

from dataclasses import replace

from windvane.cluster.apiserver.builtin.events import from_newer
from windvane.cluster.apiserver.columns.ages import since
from windvane.cluster.apiserver.columns.column import Cell, Column, JSONObject, field, read, wide


def _first_seen(event: JSONObject) -> str:
    return since(event.get("firstTimestamp") or event.get("eventTime"))


def _last_seen(event: JSONObject) -> str:
    if (series := event.get("series")) is not None:
        return since(series.get("lastObservedTime"))
    last = event.get("lastTimestamp")
    return since(last) if last else _first_seen(event)


def _times(event: JSONObject) -> int:
    if (series := event.get("series")) is not None:
        return series.get("count") or 0
    return event.get("count") or 1


def _about(event: JSONObject) -> str:
    kind, name = (read(event, "involvedObject.kind") or "").lower(), read(event, "involvedObject.name")
    return f"{kind}/{name}" if name else kind


def _source(event: JSONObject) -> str:
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


def _with_newer_names(column: Column) -> Column:
    def cell(event: JSONObject) -> Cell:
        return column.cell(from_newer(event))

    return replace(column, cell=cell)


NEWER_EVENT = tuple(map(_with_newer_names, EVENT))
