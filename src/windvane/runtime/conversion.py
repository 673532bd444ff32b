"""What an author declares about the versions of a kind: functions that make an object of one from that of another.

    @operator.convert(WebsiteV1Beta1, WebsiteV1)
    def up(old: WebsiteV1Beta1) -> WebsiteV1: ...

    @operator.convert(WebsiteV1, WebsiteV1Beta1)
    def down(new: WebsiteV1) -> WebsiteV1Beta1: ...

Not every two versions need functions of their own: an object is converted by way of others, on the shortest path.
"""

import inspect
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from windvane.api.resource import Object, Resource, kind_of
from windvane.runtime.usage_checks import check_annotations, check_result

GroupKind: TypeAlias = tuple[str, str]
"""The group and the name of a kind: what its versions have in common."""


@dataclass(frozen=True)
class Converter:
    """One function that makes an object of one version from that of another, as declared."""

    source: type[Object]
    target: type[Object]
    function: Callable[[Any], Any]


class Conversions:
    """The converters of an operator: which versions there are, and how to come from one to another."""

    def __init__(self) -> None:
        self._converters: dict[GroupKind, list[Converter]] = {}

    def __bool__(self) -> bool:
        return bool(self._converters)

    @property
    def kinds(self) -> list[GroupKind]:
        """The kinds that are converted."""
        return list(self._converters)

    def versions(self, kind: GroupKind) -> dict[str, type[Object]]:
        """The versions of a kind, in the order in which they were named."""
        named = [each for converter in self._converters.get(kind, ()) for each in (converter.source, converter.target)]
        return {kind_of(what).version: what for what in named}

    def add(self, converter: Converter) -> None:
        """Declare one more; TypeError or ValueError says what is wrong with it."""
        source, target = converter.source, converter.target
        _check(converter)
        there = self._converters.setdefault(group_kind(source), [])
        for other in there:
            if (other.source, other.target) == (source, target):
                raise ValueError(
                    f"{source.__name__} is converted to {target.__name__} already, by {other.function.__name__}"
                )
        known = self.versions(group_kind(source))
        for what in (source, target):
            version = kind_of(what).version
            if known.get(version, what) is not what:
                raise ValueError(
                    f"{known[version].__name__} and {what.__name__} are both {kind_of(what)}: a version has one class"
                )
        there.append(converter)

    def path(self, kind: GroupKind, source: str, target: str) -> list[Converter] | None:
        """The fewest converters that lead from one version to another; None if none do."""
        paths: deque[list[Converter]] = deque([[]])
        seen = {source}
        while paths:
            path = paths.popleft()
            here = kind_of(path[-1].target).version if path else source
            if here == target:
                return path
            for converter in self._converters.get(kind, ()):
                onward = kind_of(converter.target).version
                if kind_of(converter.source).version == here and onward not in seen:
                    seen.add(onward)
                    paths.append([*path, converter])
        return None

    def check(self, classes: Iterable[type[Object]]) -> None:
        """ValueError unless each version leads to each other one. Of `classes`, those of converted kinds count, too."""
        for kind in self._converters:
            versions = self.versions(kind)
            for what in classes:
                if issubclass(what, Resource) and group_kind(what) == kind:
                    versions.setdefault(kind_of(what).version, what)
            for source, theirs in versions.items():
                for target, ours in versions.items():
                    if self.path(kind, source, target) is None:
                        raise ValueError(
                            f"nothing converts a {theirs.__name__} to a {ours.__name__}, and users may ask for any "
                            f"version of what is stored in any other: write "
                            f"@operator.convert({theirs.__name__}, {ours.__name__})"
                        )


def group_kind(what: type[Object]) -> GroupKind:
    """What a class has in common with those of the kind's other versions."""
    kind = kind_of(what)
    return kind.group, kind.name


def _check(converter: Converter) -> None:
    source, target, function = converter.source, converter.target, converter.function
    name = getattr(function, "__name__", repr(function))
    given: tuple[Any, Any] = (source, target)
    for what in given:
        if not (isinstance(what, type) and issubclass(what, Resource)):
            raise TypeError(
                f"@operator.convert takes the classes of two versions of a kind of your own, not {what!r}: write "
                "@operator.convert(WebsiteV1Beta1, WebsiteV1), say"
            )
    if group_kind(source) != group_kind(target):
        raise ValueError(
            f"@operator.convert({source.__name__}, {target.__name__}): these are {kind_of(source)} and "
            f"{kind_of(target)}, which are two kinds, not two versions of one. If they are one, say so: "
            f'class {target.__name__}(..., group="{kind_of(source).group}", kind="{kind_of(source).name}")'
        )
    if kind_of(source).version == kind_of(target).version:
        raise ValueError(
            f"@operator.convert({source.__name__}, {target.__name__}): both are {kind_of(source)}; a conversion is "
            "from one version to another"
        )
    remedy = f"write `def {name}(old: {source.__name__}) -> {target.__name__}`"
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{name} converts a {source.__name__}, and must not wait: {remedy}, not `async def`. A conversion knows "
            "nothing but the object, or the same object would be read differently from one time to the next"
        )
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise TypeError(f"{name} is called with a {source.__name__} and nothing else: {remedy}") from None
    check_annotations(function, (source,), remedy)
    check_result(function, target, remedy)
