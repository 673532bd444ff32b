"""Get, list and watch: reads of the store, at the current revision or an older one."""

import logging
from bisect import bisect_right
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from windvane import ambient
from windvane.api.status import StatusCause, StatusDetails
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.failure import Failure, bad_request, expired, failure, not_found
from windvane.cluster.apiserver.pipeline.continue_token import Continuation, read_token, write_token
from windvane.cluster.apiserver.pipeline.selector import Selection, read_selection
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.storage_codec import key_of
from windvane.cluster.apiserver.request.options import is_on, whole_number
from windvane.cluster.apiserver.storage.record import Entry, Key, Record
from windvane.cluster.apiserver.storage.store import Expired, Slow, Store
from windvane.cluster.apiserver.target import Target

log = logging.getLogger(__name__)

BOOKMARK_INTERVAL = 60.0
CONVERSION_INTERVAL = 0.25  # after which a watch retries a failed conversion
SHORTEST_WATCH = 1800.0
MOST_AT_ONCE = 100  # changes that a watch passes on together: one write to its reader instead of a hundred
TOO_OLD_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)
INCONSISTENT = -1
"""The revision in a token that continues with the current state."""
Query = dict[str, str]


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list."""

    entries: list[Entry]
    revision: int
    continue_: str = ""
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch; a BOOKMARK has a revision and no value."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    value: bytes = b""
    revision: int = 0
    initial_end: bool = False


Changes = list[WatchEvent]
Entries = list[Entry]


class Reader:
    """Reads the store."""

    def __init__(self, store: Store, conversions: Conversions) -> None:
        self._store = store
        self._conversions = conversions

    async def read(self, target: Target, query: Query | None = None) -> bytes:
        """The object at `target` in the requested version; `Failure` 404 if there is none."""
        return await self._conversions.to_version(target.type, self.get(target, query).value)

    async def read_list(self, target: Target, query: Query) -> ListPage:
        """The page of a list in the requested version."""
        selection = read_selection(target.type, query)
        if not selection.everything and _is_converted(target.type):
            # Selectors match converted objects.
            entries, revision = self._candidates(target, query)
            return _page(await self._converted(target.type, entries), revision, query, selection, target.namespace)
        listed = self.list(target, query)
        return replace(listed, entries=await self._converted(target.type, listed.entries))

    async def _converted(self, type_: ResourceType, entries: Sequence[Entry]) -> list[Entry]:
        values = await self._conversions.all_to_version(type_, [entry.value for entry in entries])
        return [
            entry if value is entry.value else Entry(entry.key, entry.revision, value)
            for entry, value in zip(entries, values, strict=True)
        ]

    def get(self, target: Target, query: Query | None = None) -> Entry:
        """The object at `target`, as it is stored; `Failure` 404 if there is none."""
        try:
            revision = read_revision(query or {})
        except Failure as error:
            raise failure(500, "", error.status.message) from error
        if revision > self._store.revision:
            raise too_large(revision, self._store.revision)
        entry = self._store.get(key_of(target.type, target.namespace, target.name))
        if entry is None:
            raise not_found(target.type.kind, target.name)
        return entry

    def list(self, target: Target, query: Query) -> ListPage:
        """The page of a list as it is stored."""
        selection = read_selection(target.type, query)
        entries, revision = self._candidates(target, query)
        return _page(entries, revision, query, selection, target.namespace)

    def _candidates(self, target: Target, query: Query) -> tuple[Entries, int]:
        """All objects that a page may be taken from, and their revision."""
        limit = _limit(query)
        collection, namespace = target.type.collection, target.namespace
        if token := query.get("continue"):
            if query.get("resourceVersion", "0") not in ("", "0"):
                raise bad_request("specifying resource version is not allowed when using continue")
            start = read_token(token, namespace)
            revision = self._store.revision if start.revision == INCONSISTENT else start.revision
            if revision > self._store.revision:
                raise too_large(revision, self._store.revision)
            try:
                entries = self._store.entries_at(collection, namespace, revision)
            except Expired:
                refusal = expired(TOO_OLD_CONTINUE)
                again = Continuation(INCONSISTENT, start.namespace, start.name)
                refusal.status.metadata.continue_ = write_token(again, one_namespace=bool(namespace))
                raise refusal from None
            after = Key(collection, start.namespace, start.name)
            first = bisect_right(entries, after, key=lambda entry: entry.key)
            return entries[first:], revision
        revision, exact = self._requested_revision(query, limit)
        if not exact:
            return self._store.entries(collection, namespace), self._store.revision
        try:
            return self._store.entries_at(collection, namespace, revision), revision
        except Expired:
            raise expired("The resourceVersion for the provided list is too old.") from None

    def _requested_revision(self, query: Query, limit: int) -> tuple[int, bool]:
        """The revision that a list requests, and whether it must be exactly that one."""
        try:
            revision = read_revision(query)
        except Failure as error:
            raise bad_request(f"invalid resource version: {error.status.message}") from error
        if revision > self._store.revision:
            raise too_large(revision, self._store.revision)
        exact = query.get("resourceVersionMatch") == "Exact"
        # Before resourceVersionMatch existed, a limit made a version exact.
        implied = revision > 0 and limit > 0 and not query.get("resourceVersionMatch")
        return revision, exact or implied

    def watch(self, target: Target, query: Query) -> AsyncGenerator[Changes]:
        """Batches of changes as they are committed; a `Failure` if the revision was compacted.

        Errors in the request itself are raised here, before anything is streamed.
        """
        selection = read_selection(target.type, query)
        try:
            revision = read_revision(query)
        except Failure as error:
            raise failure(500, "", error.status.message) from error
        return self._changes(target, query, selection, revision)

    async def _changes(
        self, target: Target, query: Query, selection: Selection, revision: int
    ) -> AsyncGenerator[Changes]:
        initial = is_on(query, "sendInitialEvents") if "sendInitialEvents" in query else revision == 0
        bookmarks = is_on(query, "allowWatchBookmarks")
        # A future revision is waited for: changes before it are not sent.
        after = min(revision or self._store.revision, self._store.revision)
        try:
            records = self._store.watch(target.type.collection, self._store.revision if initial else after)
        except Expired as error:
            raise expired(f"too old resource version: {revision} ({error.floor})") from None
        try:
            if initial:
                now = self._store.revision
                entries = self._store.entries(target.type.collection, target.namespace)
                for start in range(0, len(entries), MOST_AT_ONCE):
                    part = await self._converted(target.type, entries[start : start + MOST_AT_ONCE])
                    yield [
                        WatchEvent("ADDED", each.value, each.revision) for each in part if selection.matches(each.value)
                    ]
                if bookmarks:
                    yield [WatchEvent("BOOKMARK", revision=now, initial_end=True)]
            seconds = whole_number(query, "timeoutSeconds") or ambient.jitter(2 * SHORTEST_WATCH)
            deadline = ambient.monotonic() + seconds
            while not records.ended and (left := deadline - ambient.monotonic()) > 0:
                if taken := records.take(MOST_AT_ONCE):
                    news = [each for each in taken if each.revision > revision]
                    events = await self._events(news, target, selection)
                    if isinstance(events, Failure):
                        log.warning("a watch of %s waits for a conversion: %s", target.type.kind.resource, events)
                    while isinstance(events, Failure):  # no change may be skipped
                        if records.closed or ambient.monotonic() > deadline:
                            return
                        await ambient.sleep(CONVERSION_INTERVAL)
                        events = await self._events(news, target, selection)
                    yield events
                    continue
                in_time = await records.wait(min(left, BOOKMARK_INTERVAL))
                if not in_time and bookmarks and left > BOOKMARK_INTERVAL:
                    yield [WatchEvent("BOOKMARK", revision=records.progress)]
        except Slow:
            return
        finally:
            records.close()

    async def _events(self, records: Sequence[Record], target: Target, selection: Selection) -> Changes | Failure:
        """The watch events of some records, or why they can't be converted now."""
        try:
            return await self._changes_of(records, target, selection)
        except Failure as problem:
            return problem

    async def _changes_of(self, records: Sequence[Record], target: Target, selection: Selection) -> Changes:
        type_, convert = target.type, self._conversions.all_to_version
        here = [each for each in records if target.namespace in ("", each.key.namespace)]
        if not selection.everything and _is_converted(type_):
            now = await convert(type_, [each.value for each in here])
            before = iter(await convert(type_, [each.previous for each in here if each.previous is not None]))
            here = [
                _with_values(each, value, next(before) if each.previous is not None else None)
                for each, value in zip(here, now, strict=True)
            ]
            return [change for each in here if (change := change_for(each, selection)) is not None]
        changes = [change for each in here if (change := change_for(each, selection)) is not None]
        if type_.versions is None:
            return changes
        values = await convert(type_, [change.value for change in changes])
        return [
            change if value is change.value else replace(change, value=value)
            for change, value in zip(changes, values, strict=True)
        ]


def _with_values(record: Record, value: bytes, previous: bytes | None) -> Record:
    """A record with its object in another version."""
    return Record(record.revision, record.key, value, record.deleted, previous, record.previous_revision)


def _is_converted(type_: ResourceType) -> bool:
    """Whether stored objects of a type may need conversion."""
    return type_.versions is not None and type_.versions.webhook is not None


def _limit(query: Query) -> int:
    return max(0, whole_number(query, "limit") or 0)


def change_for(record: Record, selection: Selection) -> WatchEvent | None:
    """The event of a record for one watch: an object that stops matching is DELETED, one that starts is ADDED."""
    if selection.everything:
        before, now = record.previous is not None, not record.deleted
    else:
        before = record.previous is not None and selection.matches(record.previous)
        now = not record.deleted and selection.matches(record.value)
    if now:
        return WatchEvent("MODIFIED" if before else "ADDED", record.value, record.revision)
    if not before:
        return None
    if record.deleted:
        return WatchEvent("DELETED", record.value, record.revision)
    return WatchEvent("DELETED", _with_revision(record), record.revision)


def _with_revision(record: Record) -> bytes:
    """The last state that matched, with the revision of the change after which it no longer did."""
    old, new = (f'"resourceVersion":"{revision}"'.encode() for revision in (record.previous_revision, record.revision))
    return (record.previous or b"").replace(old, new, 1)


def _page(entries: list[Entry], revision: int, query: Query, selection: Selection, namespace: str) -> ListPage:
    limit = _limit(query)
    if selection.everything:
        page = entries[:limit] if limit else entries
        rest = len(entries) - len(page)
    else:
        page, rest = [], 0
        for entry in entries:
            if selection.matches(entry.value):
                if limit and len(page) == limit:
                    rest = 1
                    break
                page.append(entry)
    if not rest:
        return ListPage(page, revision)
    last = page[-1].key
    token = write_token(Continuation(revision, last.namespace, last.name), one_namespace=bool(namespace))
    return ListPage(page, revision, token, rest if selection.everything else None)


def read_revision(query: Query) -> int:
    """The `resourceVersion` of a request; 0 if there is none."""
    text = query.get("resourceVersion", "")
    if not text:
        return 0
    if not text.isascii() or not text.isdecimal() or len(text) > 20 or int(text) >= 2**64:
        problem = "value out of range" if text.isascii() and text.isdecimal() else "invalid syntax"
        why = f'Invalid value: "{text[:100]}": strconv.ParseUint: parsing "{text[:100]}": {problem}'
        raise bad_request(f"resourceVersion: {why}")
    return int(text)


def too_large(requested: int, current: int) -> Failure:
    """The error for a revision that the server has not reached."""
    cause = StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version")
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    return failure(504, "Timeout", message, StatusDetails(causes=[cause], retry_after_seconds=1))
