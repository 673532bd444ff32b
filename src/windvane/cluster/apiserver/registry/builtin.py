"""The base class of the strategies of built-in kinds.

The hooks are called in this order: `set_defaults`, `prepare_for_create` or `prepare_change`, `validate…`, `warn`.
Types have been checked before any of them.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import cache, cached_property, partial
from typing import Any

from windvane.api.custom_resources.schema import Schema, schema
from windvane.api.json_value import Wire
from windvane.api.names import subdomain_problems
from windvane.api.openapi.structural import Structural
from windvane.api.resource import Object, kind_of
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.registry.defaults import fill_path
from windvane.cluster.apiserver.registry.scale import ScaleStrategy
from windvane.cluster.apiserver.registry.strategy import FieldPaths, Strategy, ValidationResult
from windvane.cluster.apiserver.registry.subresource import StatusStrategy, SubresourceStrategy, with_status
from windvane.cluster.apiserver.registry.validation.object_meta import (
    changed_metadata,
    known_finalizers,
    metadata_by_itself,
    new_metadata,
)
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.request.worker_pool import run_costly
from windvane.cluster.apiserver.schema.canonical import drop_empty, make_canonical
from windvane.cluster.apiserver.schema.decoder import DecodedObject, decode_builtin
from windvane.cluster.apiserver.schema.zero import zero_object


class BuiltinStrategy(Strategy):
    """A built-in kind. A subclass sets `model`, and overrides what differs."""

    model: type[Object]
    is_optional: bool = False
    """Whether the server must be told to serve it."""
    has_path: bool = True
    """Whether it has a path of its own in the API; others are only read or written as subresources."""

    defaults: Mapping[str, Any] = {}
    """Defaults by path, and the zero values that Go always writes."""
    free_form: bool = False
    """Whether it holds JSON that others define, where empty values may have a meaning."""
    name_problems: Callable[[str], list[str]] = staticmethod(subdomain_problems)
    any_finalizer: bool = False
    """Whether finalizers without a domain need not be Kubernetes' own."""
    checks_metadata_change_once: bool = False
    checks_metadata_again: bool = False
    """Whether the metadata is checked twice: the real server does, and reports each cause twice."""
    is_costly: bool = False
    """Whether it holds expressions, which take long to compile."""
    resets_on_update: FieldPaths | None = None
    """The fields that a write of the main resource resets; if None, status, if the kind has one."""
    status: SubresourceStrategy = StatusStrategy()
    """The strategy of its subresource status, if it has one."""
    parts: Mapping[str, SubresourceStrategy] = {}
    """Other subresources through which a part of the object is written."""
    go_package: str = ""
    """What the kind's package is called in Go; the first word of its group, or core, if empty."""

    def __init__(self, *, loopback_endpoints: bool = False) -> None:
        """With `loopback_endpoints`, pods are on the API server's machine, and endpoints may be at 127.x.y.z."""
        self.kind = kind_of(self.model)
        self.has_status = "status" in self.kind.subresources
        self.loopback_endpoints = loopback_endpoints
        status = {"status": self.status} if self.has_status else {}
        self._parts: Mapping[str, SubresourceStrategy] = {**status, **self.parts}
        if "scale" in self.kind.subresources and self.scale is None:
            self.scale = ScaleStrategy()

    @property
    def schema(self) -> Schema:
        """Made when it is first needed."""
        return _schema_of(self.model)

    @cached_property
    def structural(self) -> Structural:
        """The schema, compiled for pruning and defaulting."""
        return _structural_of(self.model)

    @property
    def go_type(self) -> str:
        return f"*{self.go_package or self.kind.group.split('.')[0] or 'core'}.{self.kind.name}"

    def reset_fields(self, subresource: str) -> FieldPaths:
        """Those of the kind, or of the strategy of the subresource."""
        if (strategy := self._parts.get(subresource)) is not None:
            return strategy.reset_fields
        if self.resets_on_update is not None:
            return self.resets_on_update
        return ("status",) if self.has_status else ()

    # What kinds override

    def set_defaults(self, obj: Wire) -> None:
        """Fill in what depends on the rest of the object."""
        del obj

    def prepare_change(self, obj: Wire, old: Wire) -> None:
        """Remove what a changed object has no use for, and what can't be changed this way."""
        del obj, old

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check an object, new or changed."""
        del obj, problems

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        """Check a new object."""
        self.validate(obj, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check a changed object."""
        del old
        self.validate(obj, problems)

    def warn(self, obj: Wire, old: Wire | None) -> Iterable[str]:
        """Warnings about an object that is new, or was `old`."""
        del obj, old
        return ()

    # What the server calls

    def read_body(self, body: bytes, sent: bytes) -> DecodedObject:
        """The object, as Go's decoder reads it."""
        del sent
        return decode_builtin(body, self.kind)

    def decode(self, wire: Wire) -> None:
        """Normalize it as decoding into Go's types does, with defaults."""
        if not self.free_form:
            self.structural.prune(wire)
            drop_empty(wire, self.schema)
        self.apply_defaults(wire)

    def apply_defaults(self, obj: Wire) -> None:
        """Fill in what is absent."""
        make_canonical(self.kind, obj)
        for path, value in self.defaults.items():
            fill_path(obj, path, deepcopy(value))
        self.set_defaults(obj)

    def empty_object(self) -> Wire:
        return zero_object(self.kind)

    def reset(self, wire: Wire, current: Wire, subresource: str) -> Wire:
        """Status is written through its own subresource, and everything else is not."""
        if (strategy := self._parts.get(subresource)) is not None:
            return strategy.reset(wire, current)
        return with_status(wire, current) if self.has_status else wire

    def prepare_for_update(self, wire: Wire, current: Wire, subresource: str) -> None:
        """Call the hook of the kind, or of the strategy of the subresource."""
        if (strategy := self._parts.get(subresource)) is not None:
            strategy.prepare_for_update(wire, current)
        else:
            self.prepare_change(wire, current)

    async def validate_create(self, wire: Wire) -> ValidationResult:
        """The rules for metadata, and the kind's own."""
        return ValidationResult(await self._check(partial(self.problems_of_new, wire), wire))

    async def validate_update(self, wire: Wire, current: Wire, subresource: str) -> ValidationResult:
        if subresource in self._parts:
            return ValidationResult(self.problems_of_part(subresource, wire, current))
        return ValidationResult(await self._check(partial(self.problems_of_change, wire, current), wire))

    async def _check(self, check: Callable[[], list[StatusCause]], wire: Wire) -> list[StatusCause]:
        return await run_costly(check, wire) if self.is_costly else check()

    def warnings(self, wire: Wire, current: Wire | None) -> list[str]:
        return list(self.warn(wire, current))

    def problems_of_new(self, obj: Wire) -> list[StatusCause]:
        """All that is wrong with a new object."""
        problems = Problems()
        new_metadata(self.kind, obj, problems, self.name_problems)
        if not self.any_finalizer:
            known_finalizers(obj, problems)
        self.validate_new(obj, problems)
        return problems

    def problems_of_change(self, obj: Wire, old: Wire) -> list[StatusCause]:
        """All that is wrong with an object that was `old`."""
        problems = self._problems_of_metadata(obj, old)
        if self.checks_metadata_again:
            metadata_by_itself(obj, problems)
            known_finalizers(obj, problems)
        self.validate_change(obj, old, problems)
        return problems

    def problems_of_part(self, subresource: str, obj: Wire, old: Wire) -> list[StatusCause]:
        """All that is wrong with what was written through a subresource."""
        problems = self._problems_of_metadata(obj, old)
        self._parts[subresource].validate_update(obj, old, problems)
        return problems

    def _problems_of_metadata(self, obj: Wire, old: Wire) -> Problems:
        """The real server checks the metadata of a change several times, and reports each cause as often."""
        problems = Problems()
        metadata_by_itself(obj, problems)
        for _ in range(1 if self.checks_metadata_change_once else 2):
            changed_metadata(obj, old, problems)
        if not self.any_finalizer:
            known_finalizers(obj, problems)
        return problems


@cache
def _schema_of(model: type[Object]) -> Schema:
    """Made once for all servers of a process: that of pods takes longer than a server's start. It is never changed."""
    return schema(model, builtin=True)


@cache
def _structural_of(model: type[Object]) -> Structural:
    return Structural(_schema_of(model))
