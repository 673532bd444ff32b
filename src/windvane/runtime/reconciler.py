"""One pass over one object: look, do what its author says, and write down how it stands.

what the last pass wrote is in the caches (else wait)
  → the object, decoded afresh                     gone: nothing to do
  → being deleted: finalize, then let it go
  → the finalizer is on it, before anything is done that would need it
  → reconcile                                      raises: the controller tries again, later and later
  → what was owned and is no longer stated goes
  → status, once, if it differs
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from windvane.api import codec
from windvane.api.condition import Status
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Object, dynamic, read_object
from windvane.client.client import Client
from windvane.client.errors import Conflict, NotFound
from windvane.runtime.cache import Key
from windvane.runtime.context import Context, MemoryKey, Tell
from windvane.runtime.declaration import Declaration
from windvane.runtime.history import Pass
from windvane.runtime.mistakes import changed, check_awaited, found_nothing, not_written, wrong_return
from windvane.runtime.noting import Expectation
from windvane.runtime.outcome import After, Fatal, Waiting
from windvane.runtime.owned import Memory
from windvane.runtime.report import Unwritable, changes, report, status_of
from windvane.runtime.sight import Sight

log = logging.getLogger(__name__)

CATCH_UP = 30.0
"""How long a pass waits, in seconds, for the caches to show what the last one wrote."""

SUSPICIOUS = 100
"""For how many passes we look whether they change what is not written: who does so does it early, and looking costs."""


class Behind(Exception):
    """The caches do not show yet what was written."""


@dataclass(slots=True)
class _State:
    """What a controller remembers of one object between passes. All of it can be lost: a restart loses it."""

    memory: dict[MemoryKey, Memory] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)
    given_up: int | None = None
    """The generation that `Fatal` was raised for."""
    let_go: str = ""
    """The uid of the deleted object that has our finalizer no more. The cache may show it for a while still."""


NOTHING = _State()
"""What is remembered of most objects once they are settled; it is not kept."""


class Reconciler:
    """Does the passes of one controller, each for one object; never two for the same one at once."""

    def __init__(self, declaration: Declaration, sight: Sight, *, tell: Callable[[Object, Client], Tell]) -> None:
        self._declaration = declaration
        self._sight = sight
        self._name = declaration.manager
        self._tell = tell
        self._primary = sight.of(declaration.what)
        self._finalizer = f"{declaration.kind.group}/{declaration.manager}"
        self._states: dict[Key, _State] = {}
        self._suspicious = SUSPICIOUS

    def forget(self, where: Callable[[Key], bool]) -> None:
        """Keep nothing in mind about objects that are not ours any more."""
        for key in [key for key in self._states if where(key)]:
            del self._states[key]

    async def catch_up(self, key: Key) -> None:
        """Wait until the caches show everything that the last pass wrote; if that takes too long, `visit` fails."""
        state = self._states.get(key)
        if state is None or not state.expectations:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(CATCH_UP):
                for expected in state.expectations:
                    await expected.informer.until(expected.met)
                state.expectations = []

    async def visit(self, key: Key, done: Pass, client: Client) -> float | None:
        """One pass over the object at `key`; in how many seconds it wants another, if at all. Notes what it does."""
        state = self._states.setdefault(key, _State())
        if state.expectations:  # no pass acts on an older view than that
            raise Behind(f"the cache has not seen within {CATCH_UP:g} s what this controller wrote")
        item = self._primary.cache.get(key)
        if item is None:
            self._states.pop(key, None)
            done.result = "gone"
            return None
        if item.meta.uid == state.let_go:
            done.result = "gone"
            return None
        if state.given_up == item.meta.generation and item.meta.deletion_timestamp is None:
            done.result = "fatal"
            return None
        try:
            obj = item.decode()
        except msgspec.ValidationError as error:
            # Older than a rule of its class, or stored by somebody who has another one. Only a change can help.
            log.warning("%s can't be read, and is left alone until it changes", error)
            done.result, done.message = "fatal", str(error)
            unreadable = read_object(item.raw, dynamic(self._declaration.kind))
            self._tell(unreadable, client)("Unreadable", str(error), "Warning")
            return None
        done.result = "done"
        ctx = Context(obj, client, self._sight, state.memory, self._tell(obj, client), self._name)
        try:
            if item.meta.deletion_timestamp is not None and not self._declaration.until_gone:
                return await self._retire(obj, ctx, state, done)
            if self._declaration.finalize is not None and self._finalizer not in obj.metadata.finalizers:
                obj.metadata = await self._add_finalizer(obj, ctx)
            again = await self._reconcile(obj, ctx, state, done)
            if self._suspicious:
                self._check_unchanged(item.decode(), obj, ctx)
            return again
        finally:
            state.expectations += ctx.writes.expectations
            if state == NOTHING:
                self._states.pop(key, None)
            done.reads, done.writes = list(ctx.reads), ctx.writes.words

    def _check_unchanged(self, before: Object, after: Object, ctx: Context) -> None:
        """Say it, once, if the author changes what is not written. It is no error: some compute that way."""
        self._suspicious -= 1
        if paths := changed(before, after):
            self._suspicious = 0
            ctx.log.warning("%s", not_written(self._declaration.kind.name, paths))

    async def _reconcile(self, obj: Any, ctx: Context, state: _State, done: Pass) -> float | None:
        before = _Before(obj)
        failure: Exception | None = None
        again: float | None = None
        try:
            again = await self._call(self._declaration.reconcile, obj, ctx)
            await ctx.prune()
        except Waiting as waiting:
            again = _tell_waiting(waiting, ctx, done)
        except Fatal as fatal:
            state.given_up = obj.metadata.generation
            done.result, done.message = "fatal", str(fatal)
            ctx.ready(False, str(fatal), reason="Fatal")
            ctx.event("Fatal", str(fatal), type="Warning")
        except Exception as error:  # noqa: BLE001 - it is raised again, once the status says so
            failure = error
            _tell_failure(error, obj, ctx)
        await self._report(obj, before, ctx, failure)
        return again

    async def _report(self, obj: Any, before: "_Before", ctx: Context, failure: Exception | None) -> None:
        """Write how it stands, if that is news, and raise what went wrong."""
        try:
            status = report(obj, ctx.conditions)
        except Unwritable as error:
            obj.status = codec.from_wire(before.status, before.type)
            if failure is None:
                failure = error
                _tell_failure(error, obj, ctx)
            status = report(obj, ctx.conditions)
        if status != before.status and status is not None:
            await self._write_status(obj, before.status or {}, status, ctx)
        if failure is not None:
            raise failure

    async def _call(self, function: Callable[[Any, Context], Awaitable[Any]], obj: Any, ctx: Context) -> float | None:
        limit = asyncio.timeout(self._declaration.timeout)
        try:
            async with limit:
                returned = await function(obj, ctx)
        except TimeoutError:
            if limit.expired():
                raise TimeoutError(f"the pass took longer than {self._declaration.timeout:g} s") from None
            raise
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration):
                raise found_nothing(function) from error
            raise
        check_awaited(ctx.applying)
        if returned is None:
            return None
        if isinstance(returned, After):
            return returned.seconds
        raise wrong_return(function, returned)

    async def _write_status(self, obj: Any, before: dict[str, Any], status: dict[str, Any], ctx: Context) -> None:
        kind, mine = self._declaration.kind, obj.metadata
        if not isinstance(obj.status, Status):
            # Not a status that is all ours: only what the pass changed in it is, and only as long as nobody else has.
            patch = {"metadata": {"resourceVersion": mine.resource_version}, "status": changes(before, status)}
            with suppress(NotFound, Conflict):  # it changed meanwhile, or went; that brings a pass, which sees it
                await ctx.client.patch(dynamic(kind), mine.name, patch, namespace=mine.namespace, subresource="status")
            return
        stated = dynamic(kind)(
            metadata=ObjectMeta(name=mine.name, namespace=mine.namespace, uid=mine.uid), content={"status": status}
        )
        with suppress(NotFound, Conflict):  # it was deleted meanwhile; there is nobody to tell
            await ctx.client.apply(stated, subresource="status", force=True)

    # The end of an object

    async def _add_finalizer(self, obj: Object, ctx: Context) -> ObjectMeta:
        """Put our finalizer on an object: from now on it can't go before we have let it."""
        mine = obj.metadata
        stated = dynamic(self._declaration.kind)(
            metadata=ObjectMeta(name=mine.name, namespace=mine.namespace, uid=mine.uid, finalizers=[self._finalizer])
        )
        return (await ctx.client.apply(stated, field_manager=f"{self._name}/finalizer", force=True)).metadata

    async def _retire(self, obj: Any, ctx: Context, state: _State, done: Pass) -> float | None:
        if self._declaration.finalize is None or self._finalizer not in obj.metadata.finalizers:
            return None
        before = _Before(obj)
        try:
            again = await self._call(self._declaration.finalize, obj, ctx)
        except Waiting as waiting:
            again = _tell_waiting(waiting, ctx, done)
            await self._report(obj, before, ctx, None)
            return again
        except Exception as error:
            _tell_failure(error, obj, ctx)
            await self._report(obj, before, ctx, error)
            raise
        if again is not None:
            return again
        left = [each for each in obj.metadata.finalizers if each != self._finalizer]
        # With the version that we decided on: somebody may have added a finalizer since, and it must not get lost.
        patch = {"metadata": {"finalizers": left or None, "resourceVersion": obj.metadata.resource_version}}
        with suppress(NotFound):  # somebody else removed it, and that was the last one
            await ctx.client.patch(
                dynamic(self._declaration.kind), obj.metadata.name, patch, namespace=obj.metadata.namespace
            )
        state.let_go = obj.metadata.uid
        return None


class _Before:
    """The status that an object had before the author's function saw it."""

    def __init__(self, obj: Object) -> None:
        self.status = status_of(obj)
        self.type = type(getattr(obj, "status", None))


def _tell_waiting(waiting: Waiting, ctx: Context, done: Pass) -> float | None:
    done.result, done.message = "waiting", str(waiting)
    ctx.ready(False, str(waiting), reason="Waiting")
    return waiting.after


def _tell_failure(error: Exception, obj: Object, ctx: Context) -> None:
    words = str(error) or type(error).__name__
    ctx.ready(False, words, reason=_reason(error))
    if isinstance(getattr(obj, "status", None), Status):  # of a built-in kind, only its author speaks
        ctx.event(_reason(error), words, type="Warning")


def _reason(error: Exception) -> str:
    """A word for a condition: the exception's own name, which is CamelCase already."""
    return type(error).__name__.strip("_") or "Error"
