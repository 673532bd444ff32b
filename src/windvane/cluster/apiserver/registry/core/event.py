"""Event."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.events.columns import EVENT
from windvane.cluster.apiserver.registry.events.validation import check
from windvane.cluster.apiserver.registry.field_path import field_text
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core


class EventStrategy(BuiltinStrategy):
    """Event."""

    model = core.Event
    allow_create_on_update = True
    can_have_dependents = False
    selectable_fields = (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    )
    defaults = {
        "eventTime": None,
        "firstTimestamp": None,
        "lastTimestamp": None,
        "reportingComponent": "",
        "reportingInstance": "",
        "source": {},
    }
    columns = EVENT
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
        """Newer Events say elsewhere who reports them."""
        if field == "source":
            return field_text(obj, "source.component") or field_text(obj, "reportingComponent")
        return super().field_label(obj, field)

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check an Event of the core group."""
        check(obj, "reportingComponent", problems)
