"""What is about to be done to an object, as admission plugins see it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.registry.resource_type import ResourceType

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(slots=True, kw_only=True)
class AdmissionRequest:
    """One operation on one object. Who admits it may put another object in place of its own, and add what to tell."""

    operation: Operation
    type: ResourceType
    """What the request was sent to, in the version that its path names."""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    """Empty for a new object whose name is made up only later."""
    object: Wire | None = None
    """As it shall be, with apiVersion and kind; in the form of its subresource, a Scale, say. None for DELETE."""
    old: Wire | None = None
    """As it is; None for CREATE and CONNECT."""
    options: Wire | None = None
    """CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, with apiVersion and kind."""
    dry_run: bool = False
    user: User
    warnings: list[str] = field(default_factory=list)
    """Told with the answer, whatever it is."""
    annotations: dict[str, str] = field(default_factory=dict)
    """For the audit log."""
    changed: bool = False
    """Whether a plugin changed the object in the first round, so that a second one is needed; see `chain`."""
    again: bool = False
    """Whether this is the second round."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What a plugin remembers from the first round for the second, under its own name."""


def called(wire: Wire) -> str:
    """What to call an object that may have no name yet."""
    return wire["metadata"].get("name") or wire["metadata"].get("generateName") or "Unknown"
