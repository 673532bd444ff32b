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
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from windvane.api.condition import Status, find_condition
from windvane.api.envelope import Item
from windvane.api.lenient import read_leniently
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Object, dynamic, read_object
from windvane.client.client import Client
from windvane.client.errors import Conflict, NotFound
from windvane.runtime.author_call import call
from windvane.runtime.context import Context
from windvane.runtime.daemon_tasks import Daemons
from windvane.runtime.declaration import Declaration
from windvane.runtime.informers.cache import Key
from windvane.runtime.informers.declared_informers import DeclaredInformers
from windvane.runtime.observability.history import Pass
from windvane.runtime.outcome import Fatal, Waiting
from windvane.runtime.predicate import look
from windvane.runtime.usage_checks import changed, not_written
from windvane.runtime.writes.children import RecordEvent
from windvane.runtime.writes.status_writer import StatusBefore, StatusWriter, report_failure, report_waiting
from windvane.runtime.writes.write_budget import AT_ONCE, Budgets, Child
from windvane.runtime.writes.write_recorder import Expectation

log = logging.getLogger(__name__)

CATCH_UP = 30.0
"""How long a pass waits, in seconds, for the caches to show what the last one wrote."""

GOES_WITHIN = 1.0
"""How long a pass that was told that its object is not there waits, in seconds, for the caches to show it."""

SUSPICIOUS = 100
"""For how many passes we look whether they change what is not written: an author does so early, and looking costs."""


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
        self._status = StatusWriter(declaration, self._wrote)
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
            return True  # it can't be told, and that must be said

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
                await self._leave_unreadable(item, words[:1000], done, client)
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
        ready = self._declaration.ready

        def record_event(about: Object) -> RecordEvent:
            return self._record_event(about, client)

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

    async def _leave_unreadable(self, item: Item[Any], words: str, done: Pass, client: Client) -> None:
        """Say of an object that its class can't read it: older than a rule of it, or stored by another release.

        Only a change can help, so it is not tried again before there is one.
        """
        where = "/".join(filter(None, item.key))
        log.warning("%s %s can't be read, and is left alone until it changes: %s", item.kind, where, words)
        done.result, done.message = "fatal", words
        unreadable = read_object(item.raw, dynamic(self._declaration.kind))
        self._record_event(unreadable, client)("Unreadable", words, "Warning")
        await self._status.report_unreadable(unreadable, words, client)

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
        before = StatusBefore(obj)
        failure: Exception | None = None
        again: float | None = None
        try:
            if obj.metadata.deletion_timestamp is None:
                await self._daemons.tend(obj.key, obj, client)
            else:
                await self._daemons.stop(obj.key)
            again = await call(self._declaration.reconcile, obj, ctx, self._declaration.timeout)
            self._check_complete(ctx)
        except Waiting as waiting:
            again = report_waiting(waiting, ctx, done)
        except Fatal as fatal:
            state.given_up = obj.metadata.generation
            done.result, done.message = "fatal", str(fatal)
            ctx.ready(False, str(fatal), reason="Fatal")
            ctx.event("Fatal", str(fatal), type="Warning")
        except Exception as error:  # noqa: BLE001 - it is raised again, once the status says so
            if await self._is_gone(obj, error):
                done.result = "gone"
                return None
            failure = error
            report_failure(error, obj, ctx)
        await self._status.report(obj, before, ctx, failure)
        return again

    async def _is_gone(self, obj: Object, error: Exception) -> bool:
        """Whether a pass failed because its own object went meanwhile: then there is nothing to tell, or to try again.

        What the caches show counts, and they may be a moment behind an answer that is about the object itself.
        """
        if not isinstance(error, NotFound | Conflict):
            return False

        def gone() -> bool:
            item = self._primary.cache.get(obj.key)
            return item is None or item.meta.uid != obj.metadata.uid

        details, kind = error.status.details, self._declaration.kind
        about = (details.group, details.kind, details.name) if details is not None else None
        # A conflict about its version says that it is there; one about its uid, that another is in its place, or none.
        may_be_gone = isinstance(error, NotFound) or "uid" in error.status.message.lower()
        if may_be_gone and about in tuple((kind.group, each, obj.metadata.name) for each in (kind.plural, kind.name)):
            with suppress(TimeoutError):
                async with asyncio.timeout(GOES_WITHIN):
                    await self._primary.until(gone)
        return gone()

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
        before = StatusBefore(obj)
        try:
            await self._daemons.stop(obj.key)
            again = await call(self._declaration.finalize, obj, ctx, self._declaration.timeout)
        except Waiting as waiting:
            again = report_waiting(waiting, ctx, done)
            await self._status.report(obj, before, ctx)
            return again
        except Exception as error:
            if await self._is_gone(obj, error):  # another client took the finalizer off
                done.result = "gone"
                return None
            report_failure(error, obj, ctx)
            await self._status.report(obj, before, ctx, error)
            raise
        if again is not None:
            if find_condition(ctx.conditions, self._declaration.ready) is None:
                ctx.ready(False, "it is being deleted, which goes on later", reason="Finalizing")
            await self._status.report(obj, before, ctx)
            return again
        left = [each for each in obj.metadata.finalizers if each != self._finalizer]
        # With the version that we decided on: another client may have added a finalizer since, and it must not get
        # lost.
        patch = {"metadata": {"finalizers": left or None, "resourceVersion": obj.metadata.resource_version}}
        with suppress(NotFound):  # another client removed it, and that was the last one
            written = await ctx.client.patch(
                dynamic(self._declaration.kind), obj.metadata.name, patch, namespace=obj.metadata.namespace
            )
            self._wrote(obj.key, written.metadata.resource_version)
        state.let_go = obj.metadata.uid
        return None
