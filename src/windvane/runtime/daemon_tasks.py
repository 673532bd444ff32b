"""Daemons at work: those of one controller, of each function at most one for an object.

    a pass sees the object ──▶ running ──(fails)──▶ pause ──▶ running …
                                  │
                                  └──(a new spec, deletion, our right to it is gone)──▶ cancelled ──▶ ended

Passes start and stop them, since no two passes for one object run at once: a finalizer is called when they have ended,
and the next one begins then. What takes a lease or a shard away, or gives it back, waits until they have ended.
"""

import asyncio
import contextvars
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from windvane import ambient
from windvane.api.resource import Object
from windvane.backoff import Backoff
from windvane.client.client import Client
from windvane.client.errors import ClientError
from windvane.runtime.daemon import Daemon, DaemonContext
from windvane.runtime.informers.cache import Key
from windvane.runtime.informers.declared_informers import DeclaredInformers
from windvane.runtime.lifespan import Lifespan, Lifespans
from windvane.runtime.observability.current_pass import CurrentPass, during
from windvane.runtime.observability.failure import Failure, exited, meant, not_cancelled, words
from windvane.runtime.outcome import Fatal
from windvane.runtime.writes.children import RecordEvent

log = logging.getLogger(__name__)

STOP_WITHIN = 4.0
"""How long, in seconds, a daemon that is cancelled may take to end: a lease that is lost may be taken after five."""


class StillRunning(Exception):
    """A daemon has not ended, though it was cancelled: what must wait for that is tried again later."""


class _Daemon:
    """One daemon of one object."""

    def __init__(self, uid: str, generation: int, task: "asyncio.Task[None]") -> None:
        self.identity = (uid, generation)
        self.task = task
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        self.task.cancel()


class Daemons:
    """See the module."""

    def __init__(
        self,
        declared: Sequence[Daemon[Any]],
        informers: DeclaredInformers,
        lifespans: Lifespans,
        *,
        controller: str,
        manager: str,
        retry: Backoff,
        ours: Callable[[Key], bool],
        ask: Callable[[Key, str], None],
        record_event: Callable[[Object, Client], RecordEvent],
    ) -> None:
        self._declared = tuple(declared)
        self._informers = informers
        self._lifespans = lifespans
        self._controller = controller
        self._manager = manager
        self._retry = retry
        self._ours = ours
        self._ask = ask
        self._record_event = record_event
        self._running: dict[tuple[Key, Daemon[Any]], _Daemon] = {}  # those that came to their end by themselves, too
        self._values: dict[tuple[Key, Daemon[Any]], Any] = {}  # what each yielded last
        self._closed = False
        self.failures = 0
        """How often one failed."""
        # Not that of a pass, which is where they are started: its span and its log lines are not theirs.
        self._context = contextvars.copy_context()

    def value(self, key: Key, of: Lifespan[Any] | Daemon[Any]) -> Any:
        """What a lifespan has yielded, or a daemon yielded last for an object."""
        if not isinstance(of, Daemon):
            return self._lifespans.value(of)
        if of not in self._declared:
            raise LookupError(
                f"{of.name} is not a daemon of {self._informers.primary.__name__}, which this pass is for, but of "
                f"{of.what.__name__}, or another operator's"
            )
        return self._values.get((key, of))

    def __len__(self) -> int:
        """How many run, or are to run again after a pause."""
        return sum(not each.task.done() for each in self._running.values())

    def busy(self, key: Key) -> bool:
        """Whether one runs for an object."""
        return any((key, daemon) in self._running for daemon in self._declared)

    # What passes do

    async def tend(self, key: Key, obj: Object, client: Client) -> None:
        """Have those run that an object should have, as its spec is now, and no others."""
        for daemon in self._declared:
            wanted = daemon.when is None or bool(daemon.when(obj))
            identity = (obj.metadata.uid, obj.metadata.generation or 0)
            there = self._running.get((key, daemon))
            if there is not None and (not wanted or there.cancelled or there.identity != identity):
                await self._stop(key, daemon, there)
                there = None
            # Asked last, with no wait after it: what is not ours any more is not started.
            if wanted and there is None and not self._closed and self._ours(key):
                living = self._live(key, daemon, obj.metadata.uid, client)
                task = asyncio.get_running_loop().create_task(living, context=self._context.copy())
                self._running[key, daemon] = begun = _Daemon(*identity, task)
                task.add_done_callback(lambda _, daemon=daemon, begun=begun: self._done(key, daemon, begun))  # type: ignore[misc]

    async def stop(self, key: Key) -> None:
        """Have none run for an object. `StillRunning` if one does not end in time."""
        for daemon in self._declared:
            if (there := self._running.get((key, daemon))) is not None:
                await self._stop(key, daemon, there)

    async def _stop(self, key: Key, daemon: Daemon[Any], there: _Daemon) -> None:
        there.cancel()
        await asyncio.wait([there.task], timeout=STOP_WITHIN)
        if not there.task.done():
            raise StillRunning(f"the daemon {daemon.name} was cancelled, and has not ended within {STOP_WITHIN:g} s")
        self._forget(key, daemon, there)

    def _done(self, key: Key, daemon: Daemon[Any], there: _Daemon) -> None:
        if there.cancelled:  # else it came to its end, and its value is what there is to say
            self._forget(key, daemon, there)

    def _forget(self, key: Key, daemon: Daemon[Any], there: _Daemon) -> None:
        if self._running.get((key, daemon)) is there:
            del self._running[key, daemon]
            self._values.pop((key, daemon), None)

    # What is done when the right to an object, or to all, goes

    def close(self) -> None:
        """Start no more, and cancel all."""
        self._closed = True
        self.cancel(lambda _: True)

    def cancel(self, where: Callable[[Key], bool]) -> None:
        """Cancel those of some objects."""
        for (key, daemon), each in list(self._running.items()):
            if where(key):
                each.cancel()
                if each.task.done():
                    self._forget(key, daemon, each)

    async def ended(self, where: Callable[[Key], bool] = lambda _: True) -> None:
        """Cancel those of some objects, and wait until all of them have ended, however long it takes.

        What waits for this holds the right that they run by: given away, another replica would start them again.
        """
        self.cancel(where)
        while there := {place: each for place, each in self._running.items() if where(place[0])}:
            await asyncio.wait([each.task for each in there.values()], timeout=STOP_WITHIN)
            for (key, daemon), each in there.items():
                if each.task.done():
                    self._forget(key, daemon, each)
                    continue
                log.error(
                    "the daemon %s of %s %s was cancelled, and has not ended within %g s. It is cancelled again; until "
                    "it ends, this replica gives nothing away. Does it catch asyncio.CancelledError?",
                    daemon.name,
                    self._informers.primary.__name__,
                    _place(key),
                    STOP_WITHIN,
                )
                each.cancel()

    # One daemon

    async def _live(self, key: Key, daemon: Daemon[Any], uid: str, client: Client) -> None:
        """Run it, again and again if it fails."""
        failures, told = 0, None
        while (obj := self._look(key, uid)) is not None:
            began = ambient.monotonic()
            with during(CurrentPass(self._controller, _place(key), ambient.token(8), f"daemon {daemon.name}")):
                namespace = obj.metadata.namespace or client.namespace
                mine = Client(client.calls.transport, namespace=namespace, field_manager=self._manager)
                ctx = DaemonContext(
                    obj, mine, self._informers, self._lifespans, lambda about: self._record_event(about, client)
                )
                error = await self._run(key, daemon, obj, ctx)
                if error is None:
                    ctx.log.debug("the daemon %s has come to its end", daemon.name)
                    return
                said = words(error)
                if isinstance(error, Fatal):
                    ctx.event("Fatal", f"the daemon {daemon.name} gave up: {said}", type="Warning")
                    ctx.log.warning("the daemon %s gave up until the spec changes: %s", daemon.name, said)
                    return
                if ambient.monotonic() - began > self._retry.most:
                    failures = 0  # it was well in between
                delay = self._retry.delay(failures)
                failures += 1
                self.failures += 1
                expected = isinstance(error, ClientError | TimeoutError)
                failure = Failure.of(error)
                ctx.event(type(error).__name__, f"the daemon {daemon.name} failed: {said}", type="Warning")
                ctx.log.log(
                    logging.WARNING if expected else logging.ERROR,
                    "the daemon %s failed: %s; again in %.1f s",
                    daemon.name,
                    said,
                    delay,
                    exc_info=None if expected or told == failure else Failure.shown(error),
                )
                told = failure
            await ambient.sleep(delay)

    async def _run(self, key: Key, daemon: Daemon[Any], obj: Object, ctx: DaemonContext) -> Exception | None:
        """Run it once; how it failed, if it did. CancelledError if it was told to end, however it took that."""
        there = self._running[key, daemon]
        error: Exception | None = None
        try:
            await daemon.run(obj, ctx, partial(self._yielded, key, daemon))
        except asyncio.CancelledError as cancelled:
            if there.task.cancelling():
                raise
            error = not_cancelled(cancelled)
        except SystemExit as asked:
            error = exited(asked)
        except Exception as raised:  # noqa: BLE001 - the author's code may raise anything
            error = meant(raised)
        if there.cancelled:
            if error is not None:
                ctx.log.warning("the daemon %s failed when it was told to end: %s", daemon.name, words(error))
            raise asyncio.CancelledError
        # A task group that failed may have left a cancellation behind, which was for itself alone.
        while there.task.cancelling():
            there.task.uncancel()
        return error

    def _yielded(self, key: Key, daemon: Daemon[Any], value: Any) -> None:
        place = (key, daemon)
        if self._running[place].cancelled or (place in self._values and self._values[place] == value):
            return
        self._values[place] = value
        self._ask(key, f"daemon {daemon.name} yielded")

    def _look(self, key: Key, uid: str) -> Any:
        """The object as it is; None if it is another one, or about to go: a pass that ends this is on its way."""
        item = self._informers.of(self._informers.primary).cache.get(key)
        if item is None or item.meta.uid != uid or item.meta.deletion_timestamp is not None:
            return None
        try:
            return item.decode()
        except msgspec.ValidationError:
            return None


def _place(key: Key) -> str:
    return "/".join(filter(None, key))
