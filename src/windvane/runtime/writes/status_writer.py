"""Writes the status of an object at the end of a pass, once, if it differs; and the conditions that tell how it is."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from windvane.api import codec
from windvane.api.condition import Condition, Status, set_condition
from windvane.api.hints import type_hints
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Dynamic, Object, dynamic
from windvane.client.client import Client
from windvane.client.errors import Conflict, Invalid, NotFound
from windvane.runtime.context import Context
from windvane.runtime.declaration import Declaration
from windvane.runtime.informers.cache import Key
from windvane.runtime.observability.failure import words
from windvane.runtime.observability.history import Pass
from windvane.runtime.outcome import Waiting
from windvane.runtime.writes.status import Unwritable, changes, check_type, report, status_of


class StatusBefore:
    """The status that an object had before the author's function saw it."""

    def __init__(self, obj: Object) -> None:
        self.status = status_of(obj)
        self.type = type(getattr(obj, "status", None))


class StatusWriter:
    """Writes statuses for one controller."""

    def __init__(self, declaration: Declaration, wrote: Callable[[Key, str], None]) -> None:
        """`wrote` is told of each version that an object was given."""
        self._declaration = declaration
        self._wrote = wrote

    async def report(self, obj: Any, before: StatusBefore, ctx: Context, failure: Exception | None = None) -> None:
        """Write how an object stands, if that is news, and raise what went wrong."""
        try:
            await self._write_report(obj, before, ctx)
        except Unwritable as error:
            obj.status = codec.from_wire(before.status, before.type)
            if failure is None:
                failure = error
                report_failure(error, obj, ctx)
            await self._write_report(obj, before, ctx)
        if failure is not None:
            raise failure

    async def report_unreadable(self, unreadable: Dynamic, said: str, client: Client) -> None:
        """Write into the conditions of an object that its class can't read it, and leave all else there as it is."""
        if not issubclass(type_hints(self._declaration.what).get("status", object), Status):
            return
        stored = unreadable.content.get("status")
        status = dict(stored) if isinstance(stored, dict) else {}
        try:
            conditions = codec.from_wire(status.get("conditions") or [], list[Condition])
        except msgspec.ValidationError:
            conditions = []
        condition = Condition(type=self._declaration.ready, status="False", reason="Unreadable", message=said)
        condition.observed_generation = unreadable.metadata.generation
        if not set_condition(conditions, condition):
            return
        status["conditions"] = codec.to_wire(conditions)
        stated = self._stated(unreadable, status)
        with suppress(NotFound, Conflict, Invalid):  # if the status itself is what can't be, the Event has told it
            manager = self._declaration.manager
            written = await client.apply(stated, subresource="status", force=True, field_manager=manager)
            self._wrote(unreadable.key, written.metadata.resource_version)

    async def _write_report(self, obj: Any, before: StatusBefore, ctx: Context) -> None:
        status = report(obj, ctx.conditions, self._declaration.ready)
        if status != before.status and status is not None:
            check_type(status, before.type)
            await self._write(obj, before.status or {}, status, ctx)

    async def _write(self, obj: Any, before: dict[str, Any], status: dict[str, Any], ctx: Context) -> None:
        mine = obj.metadata
        if not isinstance(obj.status, Status):
            # Not a status that is all ours: only what the pass changed in it is, as long as no other client has.
            patch = {"metadata": {"resourceVersion": mine.resource_version}, "status": changes(before, status)}
            with suppress(NotFound, Conflict):  # it changed meanwhile, or went; that brings a pass, which sees it
                written = await ctx.client.patch(
                    dynamic(self._declaration.kind),
                    mine.name,
                    patch,
                    namespace=mine.namespace,
                    subresource="status",
                )
                self._wrote(obj.key, written.metadata.resource_version)
            return
        try:
            written = await self._apply(self._stated(obj, status), ctx)
        except (NotFound, Conflict):
            return  # it was deleted meanwhile
        except Invalid as error:
            raise Unwritable(f"the API server refused the status: {error}") from error
        self._wrote(obj.key, written.metadata.resource_version)

    async def _apply(self, stated: Dynamic, ctx: Context) -> Dynamic:
        """Apply a status. What another client has taken of it is taken back, and counted.

        Two operators that both say how an object stands would else undo each other's words as fast as they can: each
        write brings the other's pass.
        """
        try:
            return await ctx.client.apply(stated, subresource="status")
        except Conflict as conflict:
            if ctx.budget.wrote_status():
                ctx.children.unsettled.append(f"its status, which another client writes as well: {conflict}")
            return await ctx.client.apply(stated, subresource="status", force=True)

    def _stated(self, obj: Object, status: dict[str, Any]) -> Dynamic:
        mine = obj.metadata
        return dynamic(self._declaration.kind)(
            metadata=ObjectMeta(name=mine.name, namespace=mine.namespace, uid=mine.uid), content={"status": status}
        )


def report_waiting(waiting: Waiting, ctx: Context, done: Pass) -> float | None:
    """Have the conditions say what a pass waits for; in how many seconds the next one is due."""
    done.result, done.message = "waiting", str(waiting)
    ctx.ready(False, str(waiting), reason="Waiting")
    return waiting.after


def report_failure(error: Exception, obj: Object, ctx: Context) -> None:
    """Have the conditions say why a pass failed, and an Event."""
    said = words(error)
    ctx.ready(False, said, reason=_reason(error))
    if isinstance(getattr(obj, "status", None), Status):  # of a built-in kind, only its author speaks
        ctx.event(_reason(error), said, type="Warning")


def _reason(error: Exception) -> str:
    """A word for a condition: the exception's own name, which is CamelCase already."""
    return type(error).__name__.strip("_") or "Error"
