"""Which of several classes is the default one, as the plugins DefaultStorageClass and DefaultIngressClass see it.

A class says by an annotation that it is the default. If several do, it is the newest, and of those the first by name.
"""

from collections.abc import Iterable

from windvane.api.json_value import Wire


def default_class(classes: Iterable[Wire], annotations: Iterable[str]) -> str | None:
    """The name of the class that one of these annotations marks; None if there is none."""
    named = sorted(classes, key=lambda each: str(each["metadata"]["name"]))
    defaults = [each for each in named if any(annotations_of(each).get(key) == "true" for key in annotations)]
    newest = max(defaults, key=lambda each: str(each["metadata"].get("creationTimestamp", "")), default=None)
    return None if newest is None else str(newest["metadata"]["name"])


def annotations_of(wire: Wire) -> Wire:
    """An object's annotations."""
    found: Wire = wire["metadata"].get("annotations") or {}
    return found
