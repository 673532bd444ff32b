"""What the cluster has now: an object, those that it owns, down to the last, its owners, and what Events say of them.

Of Secrets and ConfigMaps only the metadata is read: what is in them can't be shown by mistake.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windvane.api.kind import Kind
from windvane.api.partial import only_metadata
from windvane.api.resource import Object, dynamic, object_to_wire
from windvane.cli.why.object_state import Wire
from windvane.cli.why.reference import Reference
from windvane.client.client import Client
from windvane.client.discovery import discover
from windvane.client.errors import APIError, NotFound
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.k8s.core import Event

AT_ONCE = 8
DEEPEST = 8
MOST = 200
"""So many objects are read whole."""
CLOSED = frozenset({"secrets", "configmaps"})
"""Resources of which only the metadata is read."""
BESIDE = frozenset({"events", "events.events.k8s.io", "leases.coordination.k8s.io"})
"""Resources that nothing waits for."""


@dataclass
class Live:
    """What was found."""

    kind: Kind
    reference: Reference
    object: Wire | None
    """None: it is not there."""
    children: Mapping[str, Sequence[Wire]] = field(default_factory=dict)
    """By the uid of their owner."""
    needed: Sequence[Wire] = ()
    """The claims that pods mount, of itself and those below it."""
    owners: Sequence[Wire] = ()
    """Its controller, that one's controller, and so on."""
    events: Sequence[Wire] = ()
    """Of it and of those below it, oldest first."""
    webhooks: Mapping[str, str] = field(default_factory=dict)
    """Which configuration has the webhook of that name: `ValidatingWebhookConfiguration guard`."""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    """By resource."""
    unread: Sequence[str] = ()
    """What could not be read, and why."""

    def under(self, thing: Wire) -> Sequence[Wire]:
        """The children of an object."""
        return self.children.get(uid_of(thing), ())

    def reference_of(self, thing: Wire) -> Reference:
        """Which object that is."""
        group, name = str(thing.get("apiVersion", "")).rpartition("/")[0], thing.get("kind")
        found = (each.resource for each in self.kinds.values() if (each.group, each.name) == (group, name))
        metadata = thing.get("metadata") or {}
        return Reference(next(found, str(name).lower()), metadata.get("namespace", ""), metadata.get("name", ""))


def uid_of(thing: Wire) -> str:
    """Its uid."""
    return str((thing.get("metadata") or {}).get("uid", ""))


def words_of(thing: Wire) -> str:
    """`Deployment default/blog`."""
    metadata = thing.get("metadata") or {}
    return f"{thing.get('kind')} {'/'.join(filter(None, (metadata.get('namespace'), metadata.get('name', ''))))}"


async def served_kinds(client: Client) -> list[Kind]:
    """What the server has, one version of each."""
    each_once: dict[str, Kind] = {}
    for kind in await discover(client.calls, verbs=("get", "list")):
        each_once.setdefault(kind.resource, kind)
    return list(each_once.values())


async def read_live(client: Client, kinds: Iterable[Kind], kind: Kind, namespace: str, name: str) -> Live:
    """Read an object, and all that has to do with it."""
    served = {each.resource: each for each in kinds}
    reader = _Reader(client, served)
    reference = Reference(kind.resource, namespace if kind.namespaced else "", name)
    thing = await reader.get(kind, reference.namespace, name)
    live = Live(kind, reference, thing, kinds=served)
    if thing is not None:
        live.owners = await reader.owners(thing)
        live.children = await reader.descendants(thing)
        live.needed = await reader.claims([thing, *(each for some in live.children.values() for each in some)])
    below = [*live.needed, *(each for some in live.children.values() for each in some)]
    live.events = await reader.events(reference, kind, [each for each in (thing, *below) if each is not None])
    live.webhooks = await reader.webhooks()
    live.unread = list(dict.fromkeys(reader.unread))
    return live


class _Reader:
    def __init__(self, client: Client, kinds: Mapping[str, Kind]) -> None:
        self._client = client
        self._kinds = kinds
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._read = 0
        self.unread: list[str] = []

    async def get(self, kind: Kind, namespace: str, name: str) -> Wire | None:
        """One object; None if there is none."""
        what: type[Object] = dynamic(kind)
        if kind.resource in CLOSED:
            what = only_metadata(what)
        try:
            async with self._turn:
                return object_to_wire(await self._client.get(what, name, namespace=namespace))
        except NotFound:
            return None

    async def owners(self, thing: Wire) -> list[Wire]:
        """Its controller, that one's controller, and so on, as far as they are there."""
        found: list[Wire] = []
        while len(found) < DEEPEST:
            metadata = thing.get("metadata") or {}
            mine = next((each for each in metadata.get("ownerReferences") or () if each.get("controller")), None)
            kind = self._named(mine) if mine else None
            if mine is None or kind is None:
                break
            try:
                owner = await self.get(kind, metadata.get("namespace", "") if kind.namespaced else "", mine["name"])
            except APIError as error:
                self.unread.append(str(error))
                break
            if owner is None or uid_of(owner) != mine.get("uid"):
                break
            found.append(owner)
            thing = owner
        return found

    def _named(self, reference: Mapping[str, Any]) -> Kind | None:
        group = str(reference.get("apiVersion", "")).rpartition("/")[0]
        named = (each for each in self._kinds.values() if (each.group, each.name) == (group, reference.get("kind")))
        return next(named, None)

    async def descendants(self, thing: Wire) -> dict[str, list[Wire]]:
        """What it owns, and what that owns, by the uid of the owner."""
        namespace = (thing.get("metadata") or {}).get("namespace", "")
        looked = [each for each in self._kinds.values() if each.namespaced or not namespace]
        lists = await asyncio.gather(
            *(self._metadata(each, namespace) for each in looked if each.resource not in BESIDE)
        )
        owned: dict[str, list[tuple[Kind, Object]]] = defaultdict(list)
        for kind, found in zip([each for each in looked if each.resource not in BESIDE], lists, strict=True):
            for each in found:
                for owner in each.metadata.owner_references:
                    owned[owner.uid].append((kind, each))
        return await self._whole(uid_of(thing), owned)

    async def _metadata(self, kind: Kind, namespace: str) -> list[Object]:
        try:
            async with self._turn:
                listing = self._client.list(
                    only_metadata(dynamic(kind)), namespace=namespace if kind.namespaced else ""
                )
                return [each async for each in listing]
        except APIError as error:
            self.unread.append(str(error))
            return []

    async def _whole(self, uid: str, owned: Mapping[str, Sequence[tuple[Kind, Object]]]) -> dict[str, list[Wire]]:
        children: dict[str, list[Wire]] = {}
        level = [uid]
        for _ in range(DEEPEST):
            wanted = [(owner, kind, each) for owner in level for kind, each in owned.get(owner, ())]
            wanted = [each for each in wanted if each[0] not in children][: MOST - self._read]
            self._read += len(wanted)
            whole = await asyncio.gather(*(self._one(kind, each) for _, kind, each in wanted))
            for (owner, _, _), found in zip(wanted, whole, strict=True):
                if found is not None:
                    children.setdefault(owner, []).append(found)
            level = [each.metadata.uid for _, _, each in wanted]
        return children

    async def _one(self, kind: Kind, known: Object) -> Wire | None:
        try:
            return await self.get(kind, known.metadata.namespace, known.metadata.name)
        except APIError as error:
            self.unread.append(str(error))
            return None

    async def claims(self, things: Sequence[Wire]) -> list[Wire]:
        """The claims that pods mount, as far as they are there."""
        kind = self._kinds.get("persistentvolumeclaims")
        wanted = {(place, name) for each in things for place, name in claims_of(each)}
        if kind is None:
            return []
        try:
            found = await asyncio.gather(*(self.get(kind, place, name) for place, name in sorted(wanted)))
        except APIError as error:
            self.unread.append(str(error))
            return []
        return [each for each in found if each is not None]

    async def events(self, reference: Reference, kind: Kind, things: Sequence[Wire]) -> list[Wire]:
        """What was said of an object, also of one that is gone, and of those below it."""
        uids = {uid_of(each) for each in things}
        namespace = reference.namespace or "default"
        try:
            listed = [each async for each in self._client.list(Event, namespace=namespace)]
        except APIError as error:
            self.unread.append(str(error))
            return []
        mine = [
            each
            for each in listed
            if each.involved_object.uid in uids
            or (each.involved_object.kind, each.involved_object.name) == (kind.name, reference.name)
        ]
        wires = [object_to_wire(each) for each in mine]
        return sorted(wires, key=event_time)

    async def webhooks(self) -> dict[str, str]:
        """Which configuration each webhook is in."""
        return {**await self._of(MutatingWebhookConfiguration), **await self._of(ValidatingWebhookConfiguration)}

    async def _of(
        self, what: type[MutatingWebhookConfiguration] | type[ValidatingWebhookConfiguration]
    ) -> dict[str, str]:
        try:
            there = [each async for each in self._client.list(what)]
        except APIError as error:
            self.unread.append(str(error))
            return {}
        return {webhook.name: f"{each.kind} {each.metadata.name}" for each in there for webhook in each.webhooks}


def claims_of(thing: Wire) -> list[tuple[str, str]]:
    """Namespace and name of the claims that a pod mounts; nothing if it is none."""
    if thing.get("kind") != "Pod":
        return []
    volumes = (thing.get("spec") or {}).get("volumes") or ()
    names = [(each.get("persistentVolumeClaim") or {}).get("claimName") for each in volumes]
    return [((thing.get("metadata") or {}).get("namespace", ""), name) for name in names if name]


def event_time(event: Wire) -> str:
    """When an Event was last said."""
    metadata = event.get("metadata") or {}
    return str(event.get("lastTimestamp") or event.get("eventTime") or metadata.get("creationTimestamp") or "")
