"""Informers: each keeps a cache of one kind in step with the server, and tells its subscribers what changed.

One watch for a kind serves all controllers. It begins with what is there and goes on with every change, through broken
connections and restarted servers. When the server has forgotten where we were, everything is read anew, and what went
away meanwhile is noticed by its absence.
"""

import asyncio
import builtins
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from windvane import ambient
from windvane.api.envelope import Item
from windvane.api.field_selector import FieldSelector
from windvane.api.resource import Object, Resource, kind_of
from windvane.api.selector import Selector
from windvane.backoff import Backoff
from windvane.client.client import Client
from windvane.client.errors import ClientError, Forbidden, Gone, NotFound, Unauthorized
from windvane.client.watch_stream import WatchEvent
from windvane.runtime.informers.cache import Cache, Change, Key

log = logging.getLogger(__name__)

RETRY = Backoff(first=1.0, most=30.0)

ObjectT = TypeVar("ObjectT", bound=Object)


Labels: TypeAlias = Mapping[str, str] | Selector | str | None
Fields: TypeAlias = Mapping[str, str] | FieldSelector | str | None


class Selection(NamedTuple):
    """Which objects of a kind are watched."""

    labels: Labels = None
    fields: Fields = None


ALL = Selection()


class Informer(Generic[ObjectT]):
    """One kind, in all namespaces or in some, seen through one cache. It is in step with the server while `run` runs.

    informer = Informer(client, core.Pod, labels={"app": "blog"})
    informer.subscribe(changed)
    group.create_task(informer.run())
    """

    def __init__(
        self,
        client: Client,
        what: type[ObjectT],
        *,
        namespaces: Sequence[str] = ("",),
        labels: Labels = None,
        fields: Fields = None,
        keep: Callable[[Item[ObjectT]], Item[ObjectT]] = lambda item: item,
    ) -> None:
        """Only those objects are watched that `labels` and `fields` match. `keep` says what of each is kept.

        With `keep=Item.bare`, that is hardly more than its name.
        """
        self.what = what
        self.keep = keep
        self.kind = kind_of(what)
        self.cache: Cache[ObjectT] = Cache()
        self.selector = _selector(labels)
        """What the labels of the objects are that are watched; None is for all."""
        self.restarts = 0
        """How often everything had to be read anew."""
        # Objects without a namespace are the same from wherever one looks.
        places = namespaces if self.kind.namespaced else ("",)
        only = Selection(labels, fields)
        self._reflectors = [_Reflector(self, client, place, only) for place in places]
        self._subscribers: list[Callable[[Change[ObjectT]], None]] = []
        self._waiters: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def get(self, name: str, *, namespace: str = "") -> ObjectT | None:
        """An object; None if it is not there."""
        item = self.cache.get((namespace, name))
        return item.decode() if item is not None else None

    def list(self, *, namespace: str = "") -> builtins.list[ObjectT]:
        """The objects of one namespace, or of all, ordered by name. Each is decoded anew."""
        return [item.decode() for item in self.cache.items(namespace)]

    def items(self, namespace: str = "") -> builtins.list[Item[ObjectT]]:
        """The same as they arrived: an `Item` knows its name, labels and owners without being decoded."""
        return self.cache.items(namespace)

    def watches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels may be among those that are watched."""
        return self.selector is None or self.selector.matches(labels)

    @property
    def synced(self) -> bool:
        """Whether everything that is there has been read once."""
        return all(each.synced for each in self._reflectors)

    @property
    def problem(self) -> str:
        """Why the cache can't be kept in step just now; empty if it can."""
        return next((each.problem for each in self._reflectors if each.problem), "")

    @property
    def version(self) -> int:
        """The resourceVersion up to which the cache has seen everything."""
        return min(each.version for each in self._reflectors)

    def subscribe(self, subscriber: Callable[[Change[ObjectT]], None]) -> Callable[[], None]:
        """Tell `subscriber` every change from now on, and at once what is there. Call the result to end it."""
        for item in self.cache.items():
            subscriber(Change(item, initial=True))
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    async def run(self) -> None:
        """Keep the cache in step until cancelled."""
        async with asyncio.TaskGroup() as group:
            for reflector in self._reflectors:
                group.create_task(reflector.run())

    async def wait_synced(self) -> None:
        """Wait until everything that is there has been read once."""
        await self.until(lambda: self.synced)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition` holds; it is looked at after every change."""
        if condition():
            return
        waiter = (condition, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        try:
            await waiter[1]
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def has_seen(self, key: Key, version: str) -> bool:
        """Whether the cache is at least as new as that version of that object."""
        # Versions are numbers of one counter, so a later change of anything else says as much as this one's own event.
        if version.isdecimal():
            item = self.cache.get(key)
            return self.version >= int(version) or (
                item is not None and int(item.meta.resource_version) >= int(version)
            )
        item = self.cache.get(key)
        return item is not None and item.meta.resource_version == version

    def notify(self, changes: Sequence[Change[ObjectT]]) -> None:
        """Pass on what changed; called by the reflectors."""
        for change in changes:
            for subscriber in self._subscribers:
                subscriber(change)
        if self._waiters:
            still = []
            for condition, future in self._waiters:
                if future.done():
                    continue
                if condition():
                    future.set_result(None)
                else:
                    still.append((condition, future))
            self._waiters = still


class _Reflector(Generic[ObjectT]):
    """One watch: it makes the informer's cache a reflection of what the server has in one place."""

    def __init__(self, informer: Informer[ObjectT], client: Client, namespace: str, only: Selection) -> None:
        self._informer = informer
        self._client = client
        self._namespace = namespace
        self._only = only
        self.synced = False
        self.problem = ""
        self.version = 0
        self._listed = False  # whether the present watch has told all that is there

    async def run(self) -> None:
        """Read everything, follow every change, and begin again whenever that ends."""
        failures = 0
        while True:
            try:
                await self._follow()
            except ClientError as error:
                if isinstance(error, Gone) and self._listed:
                    log.info("%s: %s; reading everything anew", self._words(), error)
                    failures = 0
                else:  # also Gone: a server that can't even begin must not be asked in a tight loop
                    failures = failures + 1 if self.problem else 1  # all was well in between
                    self._set_problem(explained(self._informer.what, self._words(), error))
            self._informer.restarts += 1
            if failures:
                await ambient.sleep(RETRY.delay(failures - 1))

    async def _follow(self) -> None:
        self._listed = False
        coming: dict[Key, Item[ObjectT]] | None = {}
        events = self._client.watch(
            self._informer.what,
            namespace=self._namespace,
            labels=self._only.labels,
            fields=self._only.fields,
            initial=True,
        )
        async with aclosing(events):
            async for event in events:
                if coming is None:
                    change = self._take_in(event)
                    self._reached(event.item)
                    self._informer.notify([change] if change is not None else [])
                elif event.initial_end:
                    self._swap_in(coming, event.item)
                    coming = None
                elif event.type != "BOOKMARK":
                    coming[event.item.key] = self._informer.keep(event.item)

    def _swap_in(self, coming: Mapping[Key, Item[ObjectT]], end: Item[ObjectT]) -> None:
        """Have in the cache what the server has now; `end` says which version that is."""
        changes = self._informer.cache.swap(coming, self._namespace)
        changes = [change._replace(initial=not self.synced, merged=True) for change in changes]
        self.synced = self._listed = True
        self._reached(end)
        self._set_problem("")
        self._informer.notify(changes)

    def _take_in(self, event: WatchEvent[ObjectT]) -> Change[ObjectT] | None:
        match event.type:
            case "ADDED" | "MODIFIED":
                return self._informer.cache.put(self._informer.keep(event.item))
            case "DELETED":
                change = self._informer.cache.remove(event.item.key)
                # The event has the last state of all, which may be newer than what the cache had.
                return change and change._replace(item=event.item)
        return None

    def _reached(self, item: Item[ObjectT]) -> None:
        if item.meta.resource_version.isdecimal():
            self.version = int(item.meta.resource_version)

    def _set_problem(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.warning("%s", problem)
        elif self.problem and not problem:
            log.info("%s: all is well again", self._words())
        self.problem = problem

    def _words(self) -> str:
        where = f" in namespace {self._namespace}" if self._namespace else ""
        return f"watching {self._informer.kind.resource}{where}"


def _selector(labels: Labels) -> Selector | None:
    if not labels:
        return None
    if isinstance(labels, Selector):
        return labels
    return Selector.parse(labels) if isinstance(labels, str) else Selector.of(labels)


def explained(what: type[Object], doing: str, error: ClientError) -> str:
    """What a watch's failure means to the person who runs the operator, and what to do about it."""
    resource = kind_of(what).resource
    match error:
        case Forbidden():
            return f"{doing}: {error}. Grant the verbs list and watch on {resource} to the operator"
        case NotFound():
            # One that the author wrote a class for can be made from it; where others come from, they know.
            how = ": windvane run --install-crds" if issubclass(what, Resource) else ""
            return f"{doing}: the server has no {resource}. Install its CustomResourceDefinition{how}"
        case Unauthorized():
            return f"{doing}: {error}. The server does not accept the operator's credentials"
    return f"{doing}: {error}"
