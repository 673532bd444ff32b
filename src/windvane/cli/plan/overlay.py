"""A copy-on-write view of a cluster: an API server in this process, over the objects that were read so far.

    the operator's client ──▶ Overlay ──(what is not here yet: GET)──▶ the cluster
                                 │
                                 ▼
                    an embedded API server, in memory

What is asked for is read from the cluster once, and is here from then on, with its uid, owners and managedFields.
Every write ends here, by the rules of an API server: defaults, validation, conflicts, finalizers.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from windvane.api import codec
from windvane.api.kind import Kind
from windvane.api.resource import Dynamic
from windvane.cli.plan.cluster_reader import Loader
from windvane.cli.plan.dry_run import Judge
from windvane.client.errors import APIError, ClientError
from windvane.client.transport import Request, Transport
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.failure import Failure, failure
from windvane.cluster.apiserver.http.filters import refusal
from windvane.cluster.apiserver.outbound.caller import Caller
from windvane.cluster.apiserver.registry.storage_codec import key_of, unpack
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target
from windvane.runtime.crds import NO_CONVERSION, Conversion
from windvane.runtime.writes.write_recorder import VERBS

Wire = dict[str, Any]

LIVE = ("attach", "exec", "log", "portforward", "proxy")
"""Subresources that are a program's own words: nothing of them can be kept."""


@dataclass(frozen=True)
class OverlayChange:
    """An object of which something was written: as it was in the cluster, and as it is here."""

    kind: Kind
    before: Wire | None
    after: Wire | None


class Overlay:
    """See the module. `handle` is an API server for an `InProcessTransport`."""

    def __init__(
        self,
        transport: Transport,
        *,
        caller: Caller | None = None,
        store: Store | None = None,
        conversion: Conversion = NO_CONVERSION,
        own: Iterable[Dynamic] = (),
        judge: Judge | None = None,
    ) -> None:
        """Webhooks that are configured in the view are called by `caller`; `conversion` says how it is for CRDs.

        `own` are the CRDs of the operator's classes, for those who may not read the cluster's. A `judge` is asked about
        what is written.
        """
        self._store = store or Store.open()
        self._server = APIServer(self._store, caller=caller)
        self._loader = Loader(transport, self._server, conversion=conversion, own=own)
        self._types = self._loader.types
        self._before = self._loader.read  # what was read is how it was, until `begin`
        self._judge = judge
        self._written: dict[Key, None] = {}  # in order
        self._ever: set[Key] = set()  # what was written, also before `begin`
        self._gone: set[str] = set()  # the uids of what was deleted before `begin`
        self.closed_to_writes = ""
        """Why nothing more can be written; empty if it can."""

    @property
    def notes(self) -> list[str]:
        """What could not be read, and was done without."""
        return list(self._loader.notes)

    async def close(self) -> None:
        """Forget all of it."""
        await self._server.close()

    # Answering

    async def handle(self, request: Request, user: User) -> Answer:
        """Answer any request; see `answer.Handler`."""
        try:
            target = await self._loader.target(request.path)
            if target is None or target.subresource in LIVE:
                return await self._passed_on(request, target)
            await self._loader.load(request, target)
        except Failure:
            return await self._server.handle(request, user)  # which says the same, in an answer
        except APIError as error:
            return Answer(error.code, codec.encode(error.status))
        except ClientError as error:
            return refusal(failure(503, "ServiceUnavailable", f"the cluster can't be read: {error}"))
        if request.method in VERBS and self.closed_to_writes:
            return refusal(failure(503, "ServiceUnavailable", self.closed_to_writes))
        writes = request.method in VERBS
        there = self._keys(target) if writes else set()
        answer = await self._server.handle(request, user)
        if writes and answer.code < 300 and ("dryRun", "All") not in request.query:
            is_first = self._note(target, there)
            if self._judge is not None and is_first and target.type.kind.name != "Event":
                await self._judge.ask(request, target, answer.body, self._loader.versions)
        return answer

    async def unnoted(self, request: Request, user: User) -> Answer:
        """The same, of the view alone: nothing is read from the cluster for it, and it is no change."""
        return await self._server.handle(request, user)

    async def _passed_on(self, request: Request, target: Target | None) -> Answer:
        """What the cluster says to what the view knows nothing of: its version, an aggregated API, a pod's log."""
        endless = ("watch", "true") in request.query
        if request.method != "GET" or endless or (target is not None and target.subresource != "log"):
            what = f"{request.method} {request.path}"
            return refusal(failure(403, "Forbidden", f"windvane plan writes nothing and opens nothing: {what}"))
        asked = replace(request, query=[each for each in request.query if each[0] != "follow"])
        try:
            async with self._loader.calls.stream(asked) as response:
                kind = next(iter(response.header("Content-Type")), "application/json")
                return Answer(response.code, await response.read(), kind)
        except APIError as error:
            return Answer(error.code, codec.encode(error.status))
        except ClientError as error:
            return refusal(failure(503, "ServiceUnavailable", f"the cluster can't be read: {error}"))

    def _keys(self, target: Target) -> set[Key]:
        """The objects that a deletion may take away."""
        return {each.key for each in self._store.entries(target.type.collection)} if not target.name else set()

    def _note(self, target: Target, there: set[Key]) -> bool:
        """Remember what was written; whether it is one object that was not written before."""
        collection = target.type.collection
        self._types.setdefault(collection, target.type)
        if target.name:
            key = key_of(target.type, target.namespace, target.name)
            self._written[key] = None
            is_first = key not in self._ever
            self._ever.add(key)
            return is_first
        now = {each.key for each in self._store.entries(collection)}
        for key in sorted(now ^ there):  # one that was created, or those of a collection that was deleted
            self._written[key] = None
        if now == there:  # of which some may have finalizers still
            for each in self._store.entries(collection, target.namespace):
                self._written[each.key] = None
        self._ever |= now ^ there
        return len(now - there) == 1

    # What was written

    @property
    def changes(self) -> list[OverlayChange]:
        """The objects that are not as they were, in the order in which they were first written."""
        changes = []
        for key in self._written:
            type_ = self._types[key.collection]
            was = self._before.get(key)
            before, after = None if was is None else unpack(type_, was), self._now(key)
            if before != after:
                changes.append(OverlayChange(type_.kind, before, after))
        return changes

    @property
    def objects(self) -> list[tuple[Kind, Wire]]:
        """All that is in the view."""
        return [
            (type_.kind, unpack(type_, entry.value))
            for collection, type_ in self._types.items()
            for entry in self._store.entries(collection)
        ]

    @property
    def gone(self) -> set[str]:
        """The uids of the objects that were deleted, and are not there any more."""
        then = {key: each["metadata"].get("uid", "") for key in self._written if (each := self._now(key)) is not None}
        were = {
            key: unpack(self._types[key.collection], was)["metadata"].get("uid", "")
            for key in self._written
            if (was := self._before.get(key)) is not None
        }
        return {uid for key, uid in were.items() if then.get(key) != uid} | self._gone

    def versions(self) -> dict[tuple[Kind, str, str], str]:
        """Which version there is of what was written; none of what is gone."""
        versions = {}
        for key in self._written:
            now = self._now(key)
            kind = self._types[key.collection].kind
            versions[kind, key.namespace, key.name] = now["metadata"]["resourceVersion"] if now else ""
        return versions

    def begin(self) -> None:
        """What was written so far is how it was, from here on."""
        self._gone = self.gone
        for key in self._written:
            self._remember(key)
        self._written.clear()

    def _remember(self, key: Key) -> None:
        entry = self._store.get(key)
        if entry is None:
            self._before.pop(key, None)
        else:
            self._before[key] = entry.value

    def _now(self, key: Key) -> Wire | None:
        entry = self._store.get(key)
        return unpack(self._types[key.collection], entry.value) if entry is not None else None
