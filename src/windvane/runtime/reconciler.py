"""One pass over one object: look, do what its author says, and write down how it stands.

what the last pass wrote is in the caches (else wait)
  → the object, decoded afresh                     gone: nothing to do; unreadable: its condition says so
  → being deleted: finalize, then let it go
  → the finalizer is on it, before anything is done that would need it
  → reconcile                                      raises: the controller tries again, later and later
  → status, once, if it differs
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from windvane.api import codec
from windvane.api.condition import Condition, Status, find_condition, set_condition
from windvane.api.envelope import Item
from windvane.api.hints import type_hints
from windvane.api.lenient import read_leniently
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Dynamic, Object, dynamic, read_object
from windvane.client.client import Client
from windvane.client.errors import Conflict, Invalid, NotFound
from windvane.runtime.context import Context
from windvane.runtime.daemon_tasks import Daemons
from windvane.runtime.declaration import Declaration
from windvane.runtime.informers.cache import Key
from windvane.runtime.informers.declared_informers import DeclaredInformers
from windvane.runtime.observability.failure import cancelling, exited, meant, not_cancelled, words
from windvane.runtime.observability.history import Pass
from windvane.runtime.outcome import After, Fatal, Waiting
from windvane.runtime.predicate import look
from windvane.runtime.usage_checks import changed, check_awaited, found_nothing, not_written, wrong_return
from windvane.runtime.writes.children import RecordEvent
from windvane.runtime.writes.status import Unwritable, changes, check_type, report, status_of
from windvane.runtime.writes.write_budget import AT_ONCE, Budgets, Child
from windvane.runtime.writes.write_recorder import Expectation

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

    expectations: list[Expectation] = field(default_factory=list)
    given_up: int | None = None
    """The generation that `Fatal` was raised for."""
    let_go: str = ""
    """The uid of the deleted object that has our finalizer no more. The cache may show it for a while still."""


NOTHING = _State()
"""What is remembered of most objects once they are settled; it is not kept."""


class Reconciler:
    """Does the passes of one controller, each for one object; never two for the same one at once."""

    def __init__(
        self,
        declaration: Declaration,
        informers: DeclaredInformers,
        daemons: Daemons,
        *,
        record_event: Callable[[Object, Client], RecordEvent],
    ) -> None:
        self._declaration = declaration
        self._informers = informers
        self._daemons = daemons
        self._name = declaration.manager
        self._record_event = record_event
        self._primary = informers.of(declaration.what)
        self._finalizer = f"{declaration.kind.group}/{declaration.manager}"
        self._states: dict[Key, _State] = {}
        self._own: dict[Key, set[str]] = {}  # the versions of each object that its last pass itself wrote
        self._leftover: set[str] = set()  # the resources of which one was said to be left over
        self.budgets = Budgets()
        """How often children were written."""
        self._suspicious = SUSPICIOUS

    def forget(self, where: Callable[[Key], bool]) -> None:
        """Keep nothing in mind about objects that are not ours any more."""
        for key in [key for key in self._states if where(key)]:
            del self._states[key]

    def is_own(self, key: Key, version: str) -> bool:
        """Whether a version of an object is what a pass itself wrote: a status, or a finalizer. It is asked once.

        The pass that wrote it knows what is in it. Another pass because of it would call what is outside of the cluster
        twice, and after a failure it would come before its time.
        """
        own = self._own.get(key)
        if own is None or version not in own:
            return False
        own.discard(version)
        if not own:
            del self._own[key]
        return True

    def is_for(self, key: Key) -> bool:
        """Whether a pass over an object is one of this controller's: `when=` may say otherwise."""
        item = self._primary.cache.get(key)
        try:
            return item is None or self._daemons.busy(key) or self._matches(item)
        except Exception:  # noqa: BLE001 - the pass says it
            return True

    def _matches(self, item: Item[Any]) -> bool:
        when = self._declaration.when
        if when is None:
            return True
        if item.meta.deletion_timestamp is not None and self._finalizer in (item.meta.finalizers or ()):
            return True  # we said that we would be called, when it matched
        try:
            return bool(when(look(item)))
        except msgspec.ValidationError:
            return True  # nobody can tell, and that must be told

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

    async def visit(self, key: Key, done: Pass, client: Client, causes: Collection[Child] = ()) -> float | None:
        """One pass over the object at `key`, which changes of `causes` brought; in how many seconds it wants another.

        Notes in `done` what it does.
        """
        state = self._states.setdefault(key, _State())
        if state.expectations:  # no pass acts on an older view than that
            raise Behind(f"the cache has not seen within {CATCH_UP:g} s what this controller wrote")
        item = self._primary.cache.get(key)
        self._own.pop(key, None)
        if item is None:
            await self._daemons.stop(key)
            self._states.pop(key, None)
            done.result = "gone"
            return None
        if not self._matches(item):
            await self._daemons.stop(key)
            done.result = "unmatched"
            return None
        if item.meta.uid == state.let_go:
            done.result = "gone"
            return None
        deleting = item.meta.deletion_timestamp is not None and not self._declaration.until_gone
        try:
            obj = item.decode()
        except msgspec.ValidationError:
            obj, problems = read_leniently(item.raw, self._declaration.what)
            words = "; ".join(problems)
            if not deleting or self._finalizer not in (item.meta.finalizers or ()):
                await self._daemons.stop(key)
                await self._tell_unreadable(item, words[:1000], done, client)
                return None
            # It must be possible to delete it: the finalizer is given what is there, and seldom needs that field.
            where = "/".join(filter(None, key))
            log.warning("%s %s is finalized as it is: it can't be read, %s", item.kind, where, words)
        if state.given_up == item.meta.generation and item.meta.deletion_timestamp is None:
            await self._daemons.tend(key, obj, client)  # what they run for may have changed: a label, say
            done.result = "fatal"
            return None
        done.result = "done"
        value = partial(self._daemons.value, key)
        record_event, ready = self._record_event(obj, client), self._declaration.ready
        ctx = Context(
            obj, client, self._informers, self.budgets.of(obj, causes), record_event, self._name, value, ready
        )
        again: float | None = None
        try:
            if deleting:
                again = await self._retire(obj, ctx, state, done)
                return again
            if self._declaration.finalize is not None and self._finalizer not in obj.metadata.finalizers:
                obj.metadata = await self._add_finalizer(obj, ctx)
                self._wrote(key, obj.metadata.resource_version)
            again = await self._reconcile(obj, ctx, state, done, client)
            if self._suspicious:
                self._check_unchanged(item.decode(), obj, ctx)
            return again
        finally:
            state.expectations += ctx.writes.expectations
            self._count(key, obj, again, ctx)
            self._slow_down(ctx, done)
            if state == NOTHING:
                self._states.pop(key, None)
            done.reads, done.writes = list(ctx.reads), ctx.writes.done

    async def _tell_unreadable(self, item: Item[Any], words: str, done: Pass, client: Client) -> None:
        """Say of an object that its class can't read it: older than a rule of it, or stored by another release.

        Only a change can help, so it is not tried again before there is one.
        """
        where = "/".join(filter(None, item.key))
        log.warning("%s %s can't be read, and is left alone until it changes: %s", item.kind, where, words)
        done.result, done.message = "fatal", words
        unreadable = read_object(item.raw, dynamic(self._declaration.kind))
        self._record_event(unreadable, client)("Unreadable", words, "Warning")
        if not issubclass(type_hints(self._declaration.what).get("status", object), Status):
            return
        stored = unreadable.content.get("status")
        status = dict(stored) if isinstance(stored, dict) else {}
        try:
            conditions = codec.from_wire(status.get("conditions") or [], list[Condition])
        except msgspec.ValidationError:
            conditions = []
        said = Condition(type=self._declaration.ready, status="False", reason="Unreadable", message=words)
        said.observed_generation = item.meta.generation
        if not set_condition(conditions, said):
            return
        status["conditions"] = codec.to_wire(conditions)
        mine = unreadable.metadata
        stated = dynamic(self._declaration.kind)(
            metadata=ObjectMeta(name=mine.name, namespace=mine.namespace, uid=mine.uid), content={"status": status}
        )
        with suppress(NotFound, Conflict, Invalid):  # if the status itself is what can't be, the Event has told it
            written = await client.apply(stated, subresource="status", force=True, field_manager=self._name)
            self._wrote(item.key, written.metadata.resource_version)

    def _count(self, key: Key, obj: Object, again: float | None, ctx: Context) -> None:
        """Notice passes that bring the next one at once, for ever: they ask for it, or write what brings it.

        What is applied is counted where that is done. Of a built-in kind, steps may be many.
        """
        if not isinstance(getattr(obj, "status", None), Status):
            return
        if again is not None and again < AT_ONCE and ctx.budget.hurried():
            ctx.children.unsettled.append(f"each pass asks for another at once, by `After(seconds={again:g})`")
        own = self._own.get(key, ())
        written = {
            (each.informer.kind.resource, each.key)
            for each in ctx.writes.expectations
            if each.version and each.version not in own
        }
        for resource, (namespace, name) in sorted(written - ctx.children.stated):
            if ctx.budget.wrote_past((resource, (namespace, name))):
                ctx.children.unsettled.append(f"{resource} {name} is written in each pass, with ctx.client")

    def _slow_down(self, ctx: Context, done: Pass) -> None:
        """Say what doesn't settle, and put off the next pass."""
        if not ctx.children.unsettled:
            return
        words = "; ".join(ctx.children.unsettled)
        done.slowed = ctx.budget.delay
        ctx.event("Unsettled", f"passes are slowed down, because of what never settles: {words}"[:1000], type="Warning")
        ctx.log.warning("never settles: %s. The next pass is put off by %g s", words, done.slowed)

    def _wrote(self, key: Key, version: str) -> None:
        self._own.setdefault(key, set()).add(version)

    def _check_complete(self, ctx: Context) -> None:
        """Say it, once, if a pass came to its end without what an earlier one applied, and did not prune."""
        if ctx.children.pruned:
            return
        for informer, item in ctx.children.leftovers(but=self._leftover):
            self._leftover.add(informer.kind.resource)
            ctx.log.warning(
                "%s %s was applied by an earlier pass and not by this one; it stays. If it should go, write `await "
                "ctx.prune()` where the pass has stated all that is wanted",
                item.kind,
                item.meta.name,
            )

    def _check_unchanged(self, before: Object, after: Object, ctx: Context) -> None:
        """Say it, once, if the author changes what is not written. It is no error: some compute that way."""
        self._suspicious -= 1
        if paths := changed(before, after):
            self._suspicious = 0
            ctx.log.warning("%s", not_written(self._declaration.kind.name, paths))

    async def _reconcile(self, obj: Any, ctx: Context, state: _State, done: Pass, client: Client) -> float | None:
        before = _Before(obj)
        failure: Exception | None = None
        again: float | None = None
        try:
            if obj.metadata.deletion_timestamp is None:
                await self._daemons.tend(obj.key, obj, client)
            else:
                await self._daemons.stop(obj.key)
            again = await self._call(self._declaration.reconcile, obj, ctx)
            self._check_complete(ctx)
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
            await self._write_report(obj, before, ctx)
        except Unwritable as error:
            obj.status = codec.from_wire(before.status, before.type)
            if failure is None:
                failure = error
                _tell_failure(error, obj, ctx)
            await self._write_report(obj, before, ctx)
        if failure is not None:
            raise failure

    async def _write_report(self, obj: Any, before: "_Before", ctx: Context) -> None:
        status = report(obj, ctx.conditions, self._declaration.ready)
        if status != before.status and status is not None:
            check_type(status, before.type)
            await self._write_status(obj, before.status or {}, status, ctx)

    async def _call(self, function: Callable[[Any, Context], Awaitable[Any]], obj: Any, ctx: Context) -> float | None:
        limit = asyncio.timeout(self._declaration.timeout)
        took_longer = f"the pass took longer than {self._declaration.timeout:g} s"
        failure: Exception
        before = cancelling()
        try:
            async with limit:
                return await _run(function, obj, ctx)
        except TimeoutError:
            if limit.expired():
                raise TimeoutError(took_longer) from None
            raise
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration):
                raise found_nothing(function) from error
            raise
        except ExceptionGroup as group:
            failure = meant(group)
        except SystemExit as error:
            failure = exited(error)
        except asyncio.CancelledError as cancelled:
            # What is not taken for a failure here ends the worker, and no other pass would come for the object.
            if limit.expired():
                failure = TimeoutError(took_longer)
            elif cancelling() > before:
                raise
            else:
                failure = not_cancelled(cancelled)
        raise failure  # here, where the group is not its context

    async def _write_status(self, obj: Any, before: dict[str, Any], status: dict[str, Any], ctx: Context) -> None:
        kind, mine = self._declaration.kind, obj.metadata
        if not isinstance(obj.status, Status):
            # Not a status that is all ours: only what the pass changed in it is, and only as long as nobody else has.
            patch = {"metadata": {"resourceVersion": mine.resource_version}, "status": changes(before, status)}
            with suppress(NotFound, Conflict):  # it changed meanwhile, or went; that brings a pass, which sees it
                written = await ctx.client.patch(
                    dynamic(kind), mine.name, patch, namespace=mine.namespace, subresource="status"
                )
                self._wrote(obj.key, written.metadata.resource_version)
            return
        stated = dynamic(kind)(
            metadata=ObjectMeta(name=mine.name, namespace=mine.namespace, uid=mine.uid), content={"status": status}
        )
        try:
            written = await self._apply_status(stated, ctx)
        except (NotFound, Conflict):
            return  # it was deleted meanwhile
        except Invalid as error:
            raise Unwritable(f"the API server refused the status: {error}") from error
        self._wrote(obj.key, written.metadata.resource_version)

    async def _apply_status(self, stated: Dynamic, ctx: Context) -> Dynamic:
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
            await self._daemons.stop(obj.key)
            return None
        before = _Before(obj)
        try:
            await self._daemons.stop(obj.key)
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
            if find_condition(ctx.conditions, self._declaration.ready) is None:
                ctx.ready(False, "it is being deleted, which goes on later", reason="Finalizing")
            await self._report(obj, before, ctx, None)
            return again
        left = [each for each in obj.metadata.finalizers if each != self._finalizer]
        # With the version that we decided on: somebody may have added a finalizer since, and it must not get lost.
        patch = {"metadata": {"finalizers": left or None, "resourceVersion": obj.metadata.resource_version}}
        with suppress(NotFound):  # somebody else removed it, and that was the last one
            written = await ctx.client.patch(
                dynamic(self._declaration.kind), obj.metadata.name, patch, namespace=obj.metadata.namespace
            )
            self._wrote(obj.key, written.metadata.resource_version)
        state.let_go = obj.metadata.uid
        return None


class _Before:
    """The status that an object had before the author's function saw it."""

    def __init__(self, obj: Object) -> None:
        self.status = status_of(obj)
        self.type = type(getattr(obj, "status", None))


async def _run(function: Callable[[Any, Context], Awaitable[Any]], obj: Any, ctx: Context) -> float | None:
    """Call an author's function. What it said may go goes when it has come to its end, or waits; not if it fails."""
    try:
        returned = await function(obj, ctx)
    except Waiting:
        check_awaited(ctx.applying)
        await ctx.children.finish()
        raise
    check_awaited(ctx.applying)
    if not (returned is None or isinstance(returned, After)):
        raise wrong_return(function, returned)
    await ctx.children.finish()
    return returned.seconds if returned is not None else None


def _tell_waiting(waiting: Waiting, ctx: Context, done: Pass) -> float | None:
    done.result, done.message = "waiting", str(waiting)
    ctx.ready(False, str(waiting), reason="Waiting")
    return waiting.after


def _tell_failure(error: Exception, obj: Object, ctx: Context) -> None:
    said = words(error)
    ctx.ready(False, said, reason=_reason(error))
    if isinstance(getattr(obj, "status", None), Status):  # of a built-in kind, only its author speaks
        ctx.event(_reason(error), said, type="Warning")


def _reason(error: Exception) -> str:
    """A word for a condition: the exception's own name, which is CamelCase already."""
    return type(error).__name__.strip("_") or "Error"
