"""A controller: knows which objects may need work, and sees to it that each gets a pass, again if one fails."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.resource import Object, kind_of
from windvane.client.client import Client
from windvane.client.errors import ClientError
from windvane.histogram import Histogram
from windvane.runtime.coordination.partition import Elsewhere, Partition
from windvane.runtime.daemon_tasks import Daemons, StillRunning
from windvane.runtime.declaration import Declaration, Owned, Watch, is_of
from windvane.runtime.informers.cache import Change, Key
from windvane.runtime.informers.declared_informers import DeclaredInformers, Informers
from windvane.runtime.lifespan import Lifespans
from windvane.runtime.observability.current_pass import CurrentPass, PassLogger, during
from windvane.runtime.observability.failure import Failure, words
from windvane.runtime.observability.field_changes import FIELDS, NOTHING, field_change
from windvane.runtime.observability.history import History, Pass, Trigger, shorten
from windvane.runtime.observability.tracing import of_pass
from windvane.runtime.predicate import Looked
from windvane.runtime.queue import FRESH, INITIAL, Closed, WorkQueue
from windvane.runtime.reconciler import Behind, Reconciler
from windvane.runtime.writes.children import NotAdopted, RecordEvent
from windvane.runtime.writes.write_budget import Child

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

log = logging.getLogger(__name__)

TRIGGERS = 10
"""How many things that happened to an object before a pass are remembered with it."""
EARLIER = 5
"""How many versions of each."""


class Controller:
    """One declared controller at work."""

    def __init__(
        self,
        declaration: Declaration,
        partition: Partition,
        informers: Informers,
        lifespans: Lifespans,
        *,
        record_event: Callable[[Object, Client], RecordEvent],
        ended: Callable[[Pass], None],
        tracer: "Tracer | None" = None,
    ) -> None:
        """`ended` is called with each pass that has ended."""
        self.declaration = declaration
        self._pass_ended = ended
        self.delays = Histogram()
        """How long keys were ready before they were worked on."""
        self.queue: WorkQueue[Key] = WorkQueue(self.delays.add, declaration.retry)
        self.durations = Histogram()
        self.results: Counter[str] = Counter()
        self.history = History()
        self._triggers: dict[Key, dict[str, Trigger]] = {}  # what happened to each since its last pass, by its words
        self._latest: tuple[Change[Any], Trigger] | None = None  # the change that was told last, and as what
        self._causes: dict[Key, set[Child]] = {}  # the objects that these things happened to
        self._timers: dict[Key, str] = {}  # why each is to be looked at later
        self._held_back: dict[Key, list[Change[Any]]] = {}  # what happened to each object itself while a pass is on
        self._slowed: dict[Key, float] = {}  # until when no pass comes, because children don't settle
        self._log_fields: dict[Key, Failure] = {}  # the failure that was last logged in full
        self._informers = DeclaredInformers(
            declaration.what, informers, declared=declaration.sees, owned=[each.kind for each in declaration.owned]
        )
        self._partition = partition
        self.daemons = Daemons(
            declaration.daemons,
            self._informers,
            lifespans,
            controller=declaration.name,
            manager=declaration.manager,
            retry=declaration.retry,
            ours=partial(partition.has, declaration.kind),
            ask=self.ask,
            record_event=record_event,
        )
        self._reconciler = Reconciler(declaration, self._informers, self.daemons, record_event=record_event)
        self.budgets = self._reconciler.budgets
        self._tracer = tracer
        self._subscriptions = self._subscribe()

    async def run(self) -> None:
        """Work until cancelled."""
        for informer in map(self._informers.of, self.declaration.sees.values()):
            await informer.wait_synced()
        async with asyncio.TaskGroup() as group:
            for _ in range(self.declaration.concurrency):
                group.create_task(self._work())

    def close(self) -> None:
        """Take on no more work; passes that are under way may finish."""
        self.queue.close()
        self.daemons.close()
        while self._subscriptions:
            self._subscriptions.pop()()

    # What may need work

    def gained(self, ours: Callable[[Key], bool]) -> None:
        """These objects are ours from now on."""
        for item in self._informers.of(self.declaration.what).cache.items():
            if ours(item.key):
                self._add(item.key, Change(item, initial=True), self.declaration.kind)

    def lost(self, theirs: Callable[[Key], bool]) -> None:
        """These objects are ours no more."""
        self._reconciler.forget(theirs)
        self.daemons.cancel(theirs)

    def _subscribe(self) -> list[Callable[[], None]]:
        return [
            self._informers.of(self.declaration.what).subscribe(self._primary_changed),
            *(
                self._informers.of(owned.what).subscribe(partial(self._owned_changed, owned))
                for owned in self.declaration.owned
            ),
            *(
                self._informers.of(watch.what).subscribe(partial(self._watched_changed, watch))
                for watch in self.declaration.watches
            ),
        ]

    @property
    def put_off(self) -> list[Key]:
        """The objects over which no pass comes for now, because children don't settle."""
        now = ambient.monotonic()
        return [key for key, until in self._slowed.items() if until > now]

    def _primary_changed(self, change: Change[Any]) -> None:
        key = change.item.key
        if (held_back := self._held_back.get(key)) is not None:
            held_back.append(change)  # it may be what the pass itself writes, whose answer is still on its way
        elif not self._is_own(change):
            if change.before is None or change.before.meta.generation != change.item.meta.generation:
                self._slowed.pop(key, None)  # what its users want now may settle
            self._add(key, change, self.declaration.kind)

    def _is_own(self, change: Change[Any]) -> bool:
        """Whether this is nothing but what the last pass wrote into the object itself."""
        own = self._reconciler.is_own(change.item.key, change.item.meta.resource_version)
        return own and not change.merged and not change.gone  # others' changes may be among them

    def _owned_changed(self, owned: Owned[Any], change: Change[Any]) -> None:
        if not _counts(owned, change):
            return
        for item in filter(None, (change.item, change.before)):
            for owner in item.meta.owner_references or ():
                if owner.controller and is_of(owner, self.declaration.kind):
                    namespace = item.meta.namespace if self.declaration.kind.namespaced else ""
                    self._add((namespace, owner.name), change, kind_of(owned.what))

    def _watched_changed(self, watch: Watch[Any], change: Change[Any]) -> None:
        if not _counts(watch, change):
            return
        # Before and after: an object that is no longer concerned must hear of it, too.
        for item in filter(None, (change.item, change.before)):
            try:
                keys = watch.keys(item, self.declaration.kind, self._informers)
            except Exception:
                log.exception("the function of Watch(%s, to=...) failed for %s", watch.what.__name__, item)
                continue
            for key in keys:
                self._add(key, change, kind_of(watch.what))

    def _add(self, key: Key, change: Change[Any], kind: Kind) -> None:
        if not self._partition.has(self.declaration.kind, key):
            return  # the replica that gets it looks at it then
        if self.declaration.when is not None and not self._reconciler.is_for(key):
            return
        triggers = self._triggers.setdefault(key, {})
        if len(triggers) < TRIGGERS:
            happened = self._trigger(change)
            triggers[happened.words] = together(triggers.get(happened.words), happened)
            self._causes.setdefault(key, set()).add((kind.resource, change.item.key))
        after = max(0.0, self._slowed.get(key, 0.0) - ambient.monotonic())
        self.queue.add(key, priority=INITIAL if change.initial else FRESH, after=after)

    def _trigger(self, change: Change[Any]) -> Trigger:
        """What a change is told as: found out once, however many objects it concerns."""
        if self._latest is None or self._latest[0] is not change:
            self._latest = change, trigger(change)
        return self._latest[1]

    def ask(self, key: Key, why: str) -> None:
        """Have a pass over an object, because of something that no watch tells."""
        self._triggers.setdefault(key, {})[why] = Trigger(why)
        self._causes.setdefault(key, set()).add(("", ("", why)))
        self.queue.add(key, priority=FRESH)

    # Work

    async def _work(self) -> None:
        while True:
            try:
                await self.next_pass()
            except Closed:
                return

    async def next_pass(self) -> None:
        """Do the pass that is due next, or wait for one that is; `Closed` if there are to be no more."""
        key = await self.queue.take()
        try:
            async with self._partition.turn(self.declaration.kind, key) as client:
                await self._visit(key, client)
        except Elsewhere:
            self.queue.succeeded(key)  # how often it failed here does not concern the replica that works on it now
            self._triggers.pop(key, None)
            self._causes.pop(key, None)
            self._log_fields.pop(key, None)
        finally:
            self.queue.done(key)

    async def caught_up(self, key: Key) -> None:
        """Wait until the caches show what the last pass over an object wrote, which is what may bring others."""
        await self._reconciler.catch_up(key)

    async def _visit(self, key: Key, client: Client) -> None:
        await self._reconciler.catch_up(key)
        # What happened while this waited is in the caches that the pass looks into now, and needs no pass of its own.
        self.queue.looking(key)
        timer = self._timers.pop(key, "a timer")
        triggers = self._triggers.pop(key, {timer: Trigger(timer)})
        done = Pass(
            id=ambient.token(8),
            controller=self.declaration.name,
            kind=self.declaration.kind.name,
            resource=self.declaration.kind.resource,
            namespace=key[0],
            name=key[1],
            began=ambient.now(),
            triggers=[*triggers.values()],
        )
        this = CurrentPass(self.declaration.name, done.where, done.id, ", ".join(triggers))
        self._held_back[key] = []
        try:
            with during(this):
                await self._pass(key, done, this, client, self._causes.pop(key, ()))
        finally:
            for change in self._held_back.pop(key):
                self._primary_changed(change)

    async def _pass(self, key: Key, done: Pass, this: CurrentPass, client: Client, causes: Collection[Child]) -> None:
        """One pass, and when the next one is due. Whatever the author's code raises ends here."""
        began = ambient.monotonic()
        again: float | None = None
        failure: Exception | None = None
        try:
            with of_pass(self._tracer, self.declaration.kind, this, done):
                again = await self._reconciler.visit(key, done, client, causes)
        except asyncio.CancelledError:
            done.result = "cancelled"
            raise
        except Exception as error:  # noqa: BLE001 - the author's code may raise anything
            done.result, done.message = "failed", words(error)
            failure = error
        finally:
            done.seconds = ambient.monotonic() - began
            self.durations.add(done.seconds)
            self.results[done.result] += 1
            shorten(done)
            self.history.add(key, done)
            if done.result == "cancelled":
                self._pass_ended(done)  # what it wrote is written, and may bring others on
        if done.slowed:
            self._slowed[key] = ambient.monotonic() + done.slowed
            self.queue.looking(key)  # what its own writes asked for comes later, too
            self.queue.add(key, after=done.slowed)
        else:
            self._slowed.pop(key, None)
        if failure is not None:
            self._timers[key] = f"a retry after {type(failure).__name__}"
            done.again = self.queue.retry(key)
            self._log_failure(key, done, failure, done.again)
            self._pass_ended(done)
            return
        self.queue.succeeded(key)
        self._log_fields.pop(key, None)
        if again is not None:
            done.again = max(again, done.slowed)
            self.queue.add(key, after=done.again)
        self._log(done)
        self._pass_ended(done)

    def _log(self, done: Pass) -> None:
        """Passes that changed nothing are most of them, and no news."""
        news = done.writes or (done.result == "fatal" and done.message)
        words = f"{done.result}: {done.message}" if done.message else done.result
        PassLogger(__name__).log(
            logging.INFO if news else logging.DEBUG,
            "%s %s: %s",
            self.declaration.kind.name,
            done.where,
            words,
            extra=_log_fields(done),
        )

    def _log_failure(self, key: Key, done: Pass, error: Exception, delay: float) -> None:
        """A failure is told with its traceback once, and then in a line until it is another one."""
        expected = isinstance(error, ClientError | TimeoutError | Behind | NotAdopted | StillRunning)
        failure = Failure.of(error)
        again = self._log_fields.get(key) == failure
        self._log_fields[key] = failure
        PassLogger(__name__).log(
            logging.WARNING if expected else logging.ERROR,
            "%s %s: %s; again in %.1f s%s",
            self.declaration.kind.name,
            done.where,
            done.message,
            delay,
            f" (as before, {failure.where})" if again and not expected else "",
            exc_info=None if expected or again else failure.shown(error),
            extra=_log_fields(done),
        )


def _counts(looked: Looked[Any], change: Change[Any]) -> bool:
    """Whether a change is one of what is looked at; if its author's function fails, it may be."""
    try:
        return looked.concerns(change)
    except Exception:
        words = "a function of %s(%s, ...) failed for %s"
        log.exception(words, type(looked).__name__, looked.what.__name__, change.item)
        return True


def _log_fields(done: Pass) -> dict[str, Any]:
    """What a log line has about a pass that has ended."""
    return {"result": done.result, "seconds": round(done.seconds, 6), "writes": [each.words for each in done.writes]}


def trigger(change: Change[Any]) -> Trigger:
    """What happened: `Deployment web changed`."""
    namespace, name = change.item.key
    happened = "was there" if change.initial else "went" if change.gone else "changed" if change.before else "came"
    before = change.before.raw if change.before else b""
    # For what is there at the start it does not matter which change made it so, and there may be very much.
    what = NOTHING if change.initial or change.gone else field_change(before, change.item.raw)
    return Trigger(
        f"{change.item.kind} {name} {happened}",
        resource=change.item.resource,
        namespace=namespace,
        name=name,
        version=change.item.meta.resource_version,
        manager=what.manager,
        fields=what.fields,
        initial=change.initial,
    )


def together(before: Trigger | None, now: Trigger) -> Trigger:
    """The same thing, which happened to the same object again before a pass could see to it."""
    if before is None or before.version == now.version or not now.version:
        return now
    earlier = [*before.earlier, before.version][-EARLIER:]
    fields = list(dict.fromkeys([*before.fields, *now.fields]))[-FIELDS:]
    return msgspec.structs.replace(now, earlier=earlier, fields=fields)
