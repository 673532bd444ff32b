"""What a ValidatingAdmissionPolicy says about a request."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a policy says no."""

    message: str
    reason: str = ""
    validation: int = 0
    """Which of the policy's validations it is."""


@dataclass(slots=True)
class Verdict:
    """What a policy says about one request, with one parameter."""

    objections: list[Objection] = field(default_factory=list)
    annotations: list[tuple[str, str]] = field(default_factory=list)
    """For the audit log."""
    failed_annotations: list[Objection] = field(default_factory=list)
    """Why there are none; these refuse the request whatever the actions of the binding are."""
