"""One way in which a pod does not keep to a standard, in the very words of a real API server."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from windvane.api.json_value import Wire


class Violation(NamedTuple):
    """The reason, as warnings about a namespace show it, and the details, which errors about a pod add."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})"


def containers(pod: Wire) -> Iterator[Wire]:
    """All containers, in the order of messages."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from pod["spec"].get(field) or ()


def security(holder: Wire) -> Wire:
    """The securityContext of a container, or of a pod's spec."""
    return holder.get("securityContext") or {}


def counted(word: str, those: Collection[object]) -> str:
    """The word in the singular or in the plural."""
    return word if len(those) == 1 else f"{word}s"


def listed(words: Iterable[str]) -> str:
    """`"a", "b"`."""
    return ", ".join(f'"{word}"' for word in words)


def named(word: str, names: Collection[str]) -> str:
    """`containers "a", "b"`."""
    return f"{counted(word, names)} {listed(names)}"


def setters(*, pod: bool, names: Collection[str]) -> str:
    """What sets something, `pod and container "a"`; empty if nothing does."""
    return " and ".join([*(["pod"] if pod else []), *([named("container", names)] if names else [])])
