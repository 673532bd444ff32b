"""One object that tells API servers about webhooks: whether it says what it should, and how it is made to.

Server-side apply states it. What others have added to it is none of theirs to say: it would have objects judged that
should not be, or not judged that should, so it goes.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from windvane.api import codec
from windvane.api.crd import CustomResourceDefinition
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Dynamic, Object, kind_of
from windvane.client.client import Client
from windvane.client.errors import Conflict, Invalid, NotFound
from windvane.runtime.conversion import GroupKind
from windvane.runtime.informer import Informer, Selection
from windvane.runtime.operator import Operator
from windvane.webhook import configurations
from windvane.webhook.configurations import OWNER, Configuration
from windvane.webhook.reach import Reach

log = logging.getLogger(__name__)

CONVERSION = "/spec/conversion"
ObjectT = TypeVar("ObjectT", bound=Object)


class NotOurs(Exception):
    """Another operator has what is to be written; the message says which, and what to do."""


class Kept(Protocol):
    """One object that is kept right."""

    informer: Informer[Any]
    verbs: str
    """What must be granted for that."""

    def is_right(self, bundle: bytes) -> bool:
        """Whether it is as it should be, with these certificates to trust, as far as we have seen."""
        ...

    async def put_right(self, bundle: bytes) -> str:
        """Have it so; the version that the server then has."""
        ...


class KeptConfiguration:
    """A webhook configuration, which is the operator's as a whole."""

    verbs = "get, list, watch, create, patch and delete"

    def __init__(
        self,
        client: Client,
        what: type[Configuration],
        name: str,
        owner: str,
        wanted: Callable[[bytes], Configuration | None],
    ) -> None:
        self.informer: Informer[Any] = Informer(client, what, only=Selection(fields={"metadata.name": name}))
        self._client = client
        self._what = what
        self._name = name
        self._owner = owner
        self._wanted = wanted
        self._uid = ""  # of the one that we have stated

    def is_right(self, bundle: bytes) -> bool:
        """See `Kept`."""
        there, wanted = self._there(), self._wanted(bundle)
        if wanted is None:
            return there is None or not self._is_ours(there)
        return there is not None and self._whose(there) == self._owner and _is_said(there, wanted)

    async def put_right(self, bundle: bytes) -> str:
        """See `Kept`."""
        there, wanted = self._there(), self._wanted(bundle)
        if there is not None and not self._is_ours(there):
            whose = self._whose(there)
            raise NotOurs(
                f"{kind_of(self._what).name} {self._name} is left as it is: it belongs to "
                f"{f'the operator {whose}' if whose else 'somebody else'}, and without it this operator is not asked. "
                f"Give this one another name, Operator(...); or, if the other is gone: kubectl delete "
                f"{kind_of(self._what).singular} {self._name}"
            )
        if wanted is not None:
            entries = codec.to_wire(wanted.webhooks)
            after = await _stated(self._client, wanted, lambda after: _is_said(after, wanted), "/webhooks", entries)
            self._uid = after.metadata.uid
            log.info("%s %s is as declared", kind_of(self._what).name, self._name)
            return after.metadata.resource_version
        if there is not None:
            with suppress(NotFound, Conflict):  # another replica was faster
                await self._client.delete(self._what, self._name, uid=there.metadata.uid)
            log.info("%s %s is gone: nothing is declared for it any more", kind_of(self._what).name, self._name)
        return ""

    def _there(self) -> Configuration | None:
        item = self.informer.cache.get(("", self._name))
        return None if item is None else item.decode()

    def _is_ours(self, there: Configuration) -> bool:
        whose = self._whose(there)
        # Somebody may have taken the annotation away since.
        return whose == self._owner or (not whose and there.metadata.uid == self._uid)

    def _whose(self, there: Configuration) -> str:
        return (there.metadata.annotations or {}).get(OWNER) or ""


class KeptConversion:
    """What a CRD says about conversion; the rest of it is not looked at."""

    verbs = "get, list, watch and patch"

    def __init__(self, client: Client, operator: Operator, reach: Reach, kind: GroupKind, name: str) -> None:
        self.informer: Informer[Dynamic] = Informer(
            client, CustomResourceDefinition, only=Selection(fields={"metadata.name": name})
        )
        # A manager of its own: what the operator states of the CRD as a whole must not be taken back by this.
        manager = f"{operator.name}-webhooks"
        self._client = Client(client.calls.transport, namespace=client.namespace, field_manager=manager)
        self._operator = operator
        self._reach = reach
        self._kind = kind
        self._name = name

    def is_right(self, bundle: bytes) -> bool:
        """See `Kept`. A CRD that is not there can't be wrong: it is seen to when it comes."""
        there = self._there()
        return there is None or _conversion(there) == self._wanted(bundle)

    async def put_right(self, bundle: bytes) -> str:
        """See `Kept`."""
        there = self._there()
        if there is None:
            return ""
        wanted = self._wanted(bundle)
        # With a uid, so that a CRD that has gone meanwhile is not made anew from this alone.
        metadata = ObjectMeta(name=self._name, uid=there.metadata.uid)
        stated = CustomResourceDefinition(metadata=metadata, content={"spec": {"conversion": wanted}})
        after = await _stated(self._client, stated, lambda after: _conversion(after) == wanted, CONVERSION, wanted)
        log.info("CustomResourceDefinition %s: conversion is as declared", self._name)
        return after.metadata.resource_version

    def _there(self) -> Dynamic | None:
        item = self.informer.cache.get(("", self._name))
        return None if item is None else item.decode()

    def _wanted(self, bundle: bytes) -> Any:
        return configurations.conversions(self._operator, self._reach, bundle)[self._kind]


def _conversion(definition: Dynamic) -> Any:
    return definition["spec"].get("conversion")


def _is_said(there: Configuration, wanted: Configuration) -> bool:
    """Whether a configuration has the entries that it should have, and no others.

    One that an older version of the operator has left would lead to a server that knows nothing of it.
    """
    entries = {each.name: each for each in there.webhooks}
    return entries.keys() == {each.name for each in wanted.webhooks} and all(
        configurations.is_said(entries[each.name], each) for each in wanted.webhooks
    )


async def _stated(
    client: Client, wanted: ObjectT, is_said: Callable[[ObjectT], bool], part: str, value: Any
) -> ObjectT:
    """Have the server say what is wanted, in this part of an object of which nothing is anybody else's.

    Server-side apply leaves alone what others have added there, or is refused because of it; then all of the part is
    put in its place.
    """
    try:
        after = await client.apply(wanted, force=True)
        if is_said(after):
            return after
    except Invalid as error:
        log.info("%s %s: %s", wanted.kind, wanted.metadata.name, error)
    whole = [{"op": "add", "path": part, "value": value}]
    return await client.patch(type(wanted), wanted.metadata.name, whole, type="json")
