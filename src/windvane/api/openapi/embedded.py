"""Whole objects inside of other objects: they need an apiVersion and a kind, and metadata that is in order."""

from typing import Any, Self

from windvane.api.custom_resources.schema import Schema
from windvane.api.names import (
    annotation_key_problems,
    label_key_problems,
    label_problems,
    label_value_problems,
    path_segment_problems,
    service_name_problems,
)
from windvane.api.status import StatusCause
from windvane.api.wording import invalid, required


class EmbeddedCheck:
    """Where in a schema there are embedded objects; parts without any are left out."""

    def __init__(self, of: Schema) -> None:
        self._embedded = of.get("x-kubernetes-embedded-resource") is True
        below = ((name, EmbeddedCheck.of(inner)) for name, inner in of.get("properties", {}).items())
        self._properties = {name: check for name, check in below if check}
        self._additional = EmbeddedCheck.of(of.get("additionalProperties"))
        self._items = EmbeddedCheck.of(of.get("items"))

    @classmethod
    def of(cls, schema: Any) -> Self | None:
        """The check for a schema, or None if there is nothing to check."""
        if not isinstance(schema, dict):
            return None
        check = cls(schema)
        return check if check._embedded or check._properties or check._additional or check._items else None

    def causes(self, value: Any, path: str = "") -> list[StatusCause]:
        """What is wrong with the objects that are embedded in a value."""
        found: list[StatusCause] = []
        if type(value) is dict:
            if self._embedded:
                found += object_causes(value, path)
            for key, inner in value.items():
                if check := self._properties.get(key):
                    found += check.causes(inner, f"{path}.{key}" if path else key)
                elif self._additional:
                    found += self._additional.causes(inner, f"{path}[{key}]")
        elif type(value) is list and self._items:
            for index, inner in enumerate(value):
                found += self._items.causes(inner, f"{path}[{index}]")
        return found


def object_causes(value: dict[str, Any], path: str) -> list[StatusCause]:
    """What is wrong with the apiVersion, kind and metadata of one embedded object."""
    found = [required(f"{path}.{name}") for name in ("apiVersion", "kind") if name not in value]
    for name in ("apiVersion", "kind"):
        if name not in value:
            continue
        stated = value[name]
        if not isinstance(stated, str):
            found.append(invalid(f"{path}.{name}", stated, "must be a string"))
        elif not stated:
            found.append(invalid(f"{path}.{name}", stated, "must not be empty"))
        elif name == "apiVersion" and stated.count("/") > 1:
            found.append(invalid(f"{path}.{name}", stated, f"unexpected GroupVersion string: {stated}"))
        elif name == "kind" and (problems := service_name_problems(stated.lower())):
            why = "may have mixed case, but should otherwise match: " + ",".join(problems)
            found.append(invalid(f"{path}.{name}", stated, why))
    metadata = value.get("metadata")
    return found + (_metadata_causes(metadata, f"{path}.metadata") if isinstance(metadata, dict) else [])


def _metadata_causes(metadata: dict[str, Any], path: str) -> list[StatusCause]:
    found: list[StatusCause] = []
    checks = (
        ("generateName", path_segment_problems),
        ("name", path_segment_problems),
        ("namespace", label_problems),
    )
    for name, problems in checks:
        if isinstance(stated := metadata.get(name), str) and stated:
            found += [invalid(f"{path}.{name}", stated, problem) for problem in problems(stated)]
    for key, value in _entries(metadata.get("labels")):
        found += [invalid(f"{path}.labels", key, problem) for problem in label_key_problems(key)]
        found += [invalid(f"{path}.labels", value, problem) for problem in label_value_problems(value)]
    for key, _ in _entries(metadata.get("annotations")):
        found += [invalid(f"{path}.annotations", key, problem) for problem in annotation_key_problems(key)]
    for owner in metadata.get("ownerReferences") or ():
        if not isinstance(owner, dict):
            continue
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                why = "version must not be empty" if name == "apiVersion" else "must not be empty"
                found.append(invalid(f"{path}.ownerReferences.{name}", "", why))
    for finalizer in metadata.get("finalizers") or ():
        problems_of = label_key_problems(finalizer) if isinstance(finalizer, str) else []
        found += [invalid(f"{path}.finalizers", finalizer, problem) for problem in problems_of]
    return found


def _entries(value: Any) -> list[tuple[str, str]]:
    return [entry for entry in value.items() if isinstance(entry[1], str)] if isinstance(value, dict) else []
