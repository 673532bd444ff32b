"""One object that tells API servers about webhooks: whether it says what it should, and how it is made to.

A configuration of our name may be another's. If that one was run outside of the cluster, on a laptop, say, and API
servers don't reach it any more, it can only refuse everything: it is taken over. Whatever else is left as it is.

Server-side apply states it. What others have added to it is none of theirs to say: it would have objects judged that
should not be, or not judged that should, so it goes.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from windvane import ambient
from windvane.api import codec
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Dynamic, Object, kind_of
from windvane.client.client import Client
from windvane.client.errors import ClientError, Conflict, Invalid, NotFound
from windvane.runtime.conversion import GroupKind
from windvane.runtime.informers.informer import Informer
from windvane.runtime.operator import Operator
from windvane.webhook import configurations
from windvane.webhook.configurations import OWNER, Configuration
from windvane.webhook.endpoint import URLEndpoint, WebhookEndpoint, endpoint_of
from windvane.webhook.probe import NotReached, probe
from windvane.webhook.stale_registration import may

log = logging.getLogger(__name__)

CONVERSION = "/spec/conversion"
ObjectT = TypeVar("ObjectT", bound=Object)


LOOK_AGAIN_AFTER = 60.0
"""Seconds after which we find out anew whether another's configuration leads to a server."""


class NotOurs(Exception):
    """Another operator has what is to be written; the message says which, and what to do."""

    def __init__(self, message: str, *, answered: bool) -> None:
        """`answered`: the other one does answer, so that objects are judged, though not by this one."""
        super().__init__(message)
        self.answered = answered


class EndpointVerdict(NamedTuple):
    """Whether another's configuration leads to a server, and when that was found out."""

    version: str
    at: float
    state: Literal["answers", "unreachable", "unknown"]
    why: str = ""


class WebhookRegistration(Protocol):
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

    async def may_be_watched(self) -> bool:
        """Whether it is to be watched at all."""
        ...


class ConfigurationRegistration:
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
        """`owner` is what stands in the annotation `OWNER`, and `wanted` gives the configuration for a bundle."""
        self.informer: Informer[Any] = Informer(client, what, fields={"metadata.name": name})
        self._client = client
        self._what = what
        self._name = name
        self._owner = owner
        self._wanted = wanted
        self._uid = ""  # of the one that we have stated
        self._verdict: EndpointVerdict | None = None  # of another's that we have found

    async def may_be_watched(self) -> bool:
        """Whether it is to be watched. If nothing is declared for it, the operator need not have a right to that."""
        if self._wanted(b"") is not None:
            return True
        try:
            return await may("list", self._client, self._what, self._name)
        except ClientError:
            return True  # and the informer says what is wrong

    def is_right(self, bundle: bytes) -> bool:
        """See `WebhookRegistration`."""
        there, wanted = self._there(), self._wanted(bundle)
        if wanted is None:
            return there is None or not self._is_ours(there)
        return there is not None and self._owner_of(there) == self._owner and _is_said(there, wanted)

    async def put_right(self, bundle: bytes) -> str:
        """See `WebhookRegistration`."""
        there, wanted = self._there(), self._wanted(bundle)
        if there is not None and not self._is_ours(there):
            if wanted is None:
                return ""
            await self._ask_after(there)
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

    async def take_back(self, bundle: bytes) -> bool:
        """Remove the configuration if it leads to this process, which is about to end; whether it was there."""
        if (wanted := self._wanted(bundle)) is None:
            return False
        try:
            there = await self._client.get(self._what, self._name)
        except NotFound:
            return False
        ours = {each.client_config.url for each in wanted.webhooks}
        leads_here = {each.client_config.url for each in there.webhooks} <= ours - {None}
        if not self._is_ours(there) or not leads_here:
            return False  # by now it is another run's, or that of replicas in the cluster
        version = there.metadata.resource_version
        try:
            await self._client.delete(self._what, self._name, uid=there.metadata.uid, resource_version=version)
        except (NotFound, Conflict):
            return False
        return True

    async def _ask_after(self, there: Configuration) -> None:
        """Return if another's configuration may be taken over; else `NotOurs`."""
        verdict, now = self._verdict, ambient.monotonic()
        if (
            verdict is None
            or verdict.version != there.metadata.resource_version
            or now >= verdict.at + LOOK_AGAIN_AFTER
        ):
            self._verdict = verdict = await self._judge(there)
        kind = kind_of(self._what)
        whose = self._owner_of(there)
        place = _place(there)
        if verdict.state == "unreachable" and whose and isinstance(place, URLEndpoint):
            log.warning(
                "%s %s is taken over from the operator %s: it was run outside of the cluster, and the API server does "
                "not reach %s any more: %s",
                kind.name, self._name, whose, place, verdict.why,
            )  # fmt: skip
            return
        words = f"{kind.name} {self._name} is left as it is: it belongs to {self._owner_in_words(whose)}"
        words += f", leads to {place}" if place is not None else ""
        if verdict.state == "unreachable":
            words += f", which the API server does not reach ({verdict.why}), so that it may refuse objects"
        elif verdict.why:
            words += f"; whether anybody answers there can't be tried out ({verdict.why})"
        raise NotOurs(
            f"{words}; and without it this operator is not asked. Give this one another name, Operator(...); or, if "
            f"the other is gone: kubectl delete {kind.singular} {self._name}",
            answered=verdict.state == "answers",
        )

    async def _judge(self, there: Configuration) -> EndpointVerdict:
        """Have the API server ask at the place that a configuration leads to whether a server is there."""
        version, now = there.metadata.resource_version, ambient.monotonic()
        if (place := _place(there)) is None or not self._owner_of(there):
            return EndpointVerdict(version, now, "unknown")
        bundle = there.webhooks[0].client_config.ca_bundle or b""
        namespace = self._owner.partition("/")[0]
        try:
            unknown = await probe(self._client, self._name, place, bundle, namespace=namespace)
        except NotReached as error:
            return EndpointVerdict(version, now, "unreachable", str(error))
        return EndpointVerdict(version, now, "unknown" if unknown else "answers", unknown)

    def _owner_in_words(self, whose: str) -> str:
        return f"the operator {whose}" if whose else "somebody else"

    def _there(self) -> Configuration | None:
        item = self.informer.cache.get(("", self._name))
        return None if item is None else item.decode()

    def _is_ours(self, there: Configuration) -> bool:
        whose = self._owner_of(there)
        # Another client may have taken the annotation away since.
        return whose == self._owner or (not whose and there.metadata.uid == self._uid)

    def _owner_of(self, there: Configuration) -> str:
        return (there.metadata.annotations or {}).get(OWNER) or ""


class ConversionRegistration:
    """What a CRD says about conversion; the rest of it is not looked at."""

    verbs = "get, list, watch and patch"

    def __init__(
        self, client: Client, operator: Operator, endpoint: WebhookEndpoint, kind: GroupKind, name: str
    ) -> None:
        self.informer: Informer[Dynamic] = Informer(client, CustomResourceDefinition, fields={"metadata.name": name})
        # A manager of its own: what the operator states of the CRD as a whole must not be taken back by this.
        manager = f"{operator.name}-webhooks"
        self._client = Client(client.calls.transport, namespace=client.namespace, field_manager=manager)
        self._operator = operator
        self._endpoint = endpoint
        self._kind = kind
        self._name = name

    async def may_be_watched(self) -> bool:
        """See `WebhookRegistration`. It is there because it is declared."""
        return True

    def is_right(self, bundle: bytes) -> bool:
        """See `WebhookRegistration`. A CRD that is not there can't be wrong: it is seen to when it comes."""
        there = self._there()
        return there is None or _conversion(there) == self._wanted(bundle)

    async def put_right(self, bundle: bytes) -> str:
        """See `WebhookRegistration`."""
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
        return configurations.conversions(self._operator, self._endpoint, bundle)[self._kind]


def _place(there: Configuration) -> WebhookEndpoint | None:
    """Where another's configuration leads."""
    return endpoint_of(there.webhooks[0].client_config) if there.webhooks else None


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
    """Have the server say what is wanted, in this part of an object of which nothing is another client's.

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
