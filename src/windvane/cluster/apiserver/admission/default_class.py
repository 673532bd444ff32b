"""What the admission plugins DefaultStorageClass and DefaultIngressClass share: a new object gets the default class.

An annotation marks a class as the default. Of several, the newest is taken, and of those the first by name.
"""

from typing import ClassVar

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin


class DefaultClassPlugin(StorePlugin):
    """Fills in the class of a new object that names none. A class `""` is named: it means none."""

    operations = frozenset({"CREATE"})
    collection: ClassVar[str]
    is_default: ClassVar[tuple[str, ...]]
    """The annotations that mark a class as the default."""
    field: ClassVar[str]
    """The field of the spec that names the class."""
    annotation: ClassVar[str]
    """The annotation that named the class before there was a field."""

    async def mutate(self, request: AdmissionRequest) -> None:
        if (wire := request.object) is None:
            return
        spec = wire.setdefault("spec", {})
        if spec.get(self.field) is None and self.annotation not in annotations_of(wire) and (name := self._default()):
            spec[self.field] = name

    def _default(self) -> str | None:
        named = sorted(self.stored_objects(self.collection), key=lambda each: str(each["metadata"]["name"]))
        defaults = [each for each in named if any(annotations_of(each).get(key) == "true" for key in self.is_default)]
        newest = max(defaults, key=lambda each: str(each["metadata"].get("creationTimestamp", "")), default=None)
        return None if newest is None else str(newest["metadata"]["name"])


def annotations_of(wire: Wire) -> Wire:
    """An object's annotations."""
    found: Wire = wire["metadata"].get("annotations") or {}
    return found
