"""AdmissionRequest: an operation on an object, as admission plugins see it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.registry.resource_type import ResourceType

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(slots=True, kw_only=True)
class AdmissionRequest:
    """One operation on one object. Plugins may replace the object, and add warnings and annotations."""

    operation: Operation
    type: ResourceType
    """The type in the version of the request's path."""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    """Empty for a new object whose name is generated later."""
    object: Wire | None = None
    """The new object with apiVersion and kind, or that of a subresource, such as a Scale. None for DELETE."""
    old: Wire | None = None
    """The current object; None for CREATE and CONNECT."""
    options: Wire | None = None
    """CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, with apiVersion and kind."""
    dry_run: bool = False
    user: User
    warnings: list[str] = field(default_factory=list)
    """Sent with the answer, also with an error."""
    annotations: dict[str, str] = field(default_factory=dict)
    """For the audit log."""
    changed: bool = False
    """Whether a plugin changed the object, so that a second round is needed; see `chain`."""
    again: bool = False
    """Whether this is the second round."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What plugins keep from the first round for the second, by their name."""


def called(wire: Wire) -> str:
    """The name of an object in messages; it may have none yet."""
    return wire["metadata"].get("name") or wire["metadata"].get("generateName") or "Unknown"
