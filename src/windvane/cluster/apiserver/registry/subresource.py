"""The rules of writes through a subresource of a built-in kind."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.strategy import FieldPaths
from windvane.cluster.apiserver.registry.validation.problems import Problems


class SubresourceStrategy:
    """Writes through one subresource. The base class has the defaults for all but `status`."""

    reset_fields: FieldPaths = ("status",)
    """The fields that such a write resets: no manager comes to own them."""

    def reset(self, wire: Wire, current: Wire) -> Wire:
        """The object with only the changes that the subresource allows."""
        raise NotImplementedError

    def prepare_for_update(self, obj: Wire, old: Wire) -> None:
        """Complete what was written."""
        del obj, old

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check what was written; metadata has been checked."""
        del obj, old, problems


class StatusStrategy(SubresourceStrategy):
    """The subresource status, through which metadata of built-in kinds can be written, too."""

    keeps_metadata: FieldPaths = ()
    """Parts of metadata that stay as they are."""
    reset_fields: FieldPaths = ("spec",)

    def reset(self, wire: Wire, current: Wire) -> Wire:
        """The current object with the new status and most of the new metadata."""
        metadata = dict(wire["metadata"])
        for name in self.keeps_metadata:
            metadata.pop(name, None)
            if name in current["metadata"]:
                metadata[name] = current["metadata"][name]
        return with_status({**current, "metadata": metadata}, wire)


class StatusOnlyStrategy(StatusStrategy):
    """A status through which metadata can be written, but no manager comes to own it."""

    reset_fields = ("spec", "metadata")


def with_status(obj: Wire, other: Wire) -> Wire:
    """An object with the status of another, or with none if that has none."""
    if "status" in other:
        obj["status"] = other["status"]
    else:
        obj.pop("status", None)
    return obj
