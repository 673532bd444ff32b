"""The result of evaluating a ValidatingAdmissionPolicy."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Objection:
    """A validation that failed."""

    message: str
    reason: str = ""
    validation: int = 0
    """Its index in the policy."""


@dataclass(slots=True)
class Verdict:
    """The result of one policy for one request and one of its params."""

    objections: list[Objection] = field(default_factory=list)
    annotations: list[tuple[str, str]] = field(default_factory=list)
    """For the audit log."""
    failed_annotations: list[Objection] = field(default_factory=list)
    """Annotations that failed; they refuse the request whatever the binding's actions are."""
