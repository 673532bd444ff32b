"""Converts custom objects between the versions of their kind, when they are read and when they are stored.

If the versions differ only in their names, that is done at once. If there is a conversion webhook, it is called, which
takes time. So objects are converted at the edges of the server, before they are looked at and before they are stored;
`cache` serves the code in between.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from windvane import ambient
from windvane.api.json_value import Wire, json_copy
from windvane.cluster.apiserver.conversion.cache import NotConvertedYet, key_of
from windvane.cluster.apiserver.conversion.review import (
    InvalidConversionResponse,
    InvalidConvertedObject,
    read_review,
    write_review,
)
from windvane.cluster.apiserver.failure import Failure, failure
from windvane.cluster.apiserver.outbound.caller import CallFailed, ClientConfig, InvalidClientConfig, Reply
from windvane.cluster.apiserver.outbound.replies import body_of
from windvane.cluster.apiserver.registry.resource_type import ResourceType, Versions
from windvane.cluster.apiserver.registry.storage_codec import unpack, version_of, with_head_first

REMEMBERED = 10_000
"""How many converted objects of a kind are cached: lists and watches show the same ones again and again."""
REMEMBERED_BYTES = 64 * 1024 * 1024
"""And how many bytes they may take, keys included: each version of a large object counts."""
SECONDS = 30.0
"""How long a webhook may take."""


class WebhookCaller(Protocol):
    """Calls webhooks; see `outbound.caller`."""

    async def post(self, config: ClientConfig, body: bytes, seconds: float) -> Reply:
        """The reply to `body`; `CallFailed` if there is none."""
        ...


class Conversions:
    """Converts objects between versions, with the help of webhooks."""

    def __init__(self, caller: WebhookCaller) -> None:
        self._caller = caller

    async def to_version(self, type_: ResourceType, value: bytes) -> bytes:
        """A stored object in that version."""
        if (versions := type_.versions) is None:
            return value
        if (at_once := self._at_once(type_, versions, value)) is not None:
            return at_once
        return (await self._converted(type_, versions, [value]))[0]

    async def all_to_version(self, type_: ResourceType, values: Sequence[bytes]) -> list[bytes]:
        """Stored objects in that version; those that are not cached are converted in one call."""
        if (versions := type_.versions) is None:
            return list(values)
        found = [self._remembered(type_, versions, value) for value in values]
        missing = [value for value, known in zip(values, found, strict=True) if known is None]
        converted = iter(await self._converted(type_, versions, missing) if missing else ())
        return [next(converted) if known is None else known for known in found]

    async def stored(self, type_: ResourceType, wire: Wire) -> Wire:
        """An object in the version that is stored."""
        versions = type_.versions
        if versions is None or versions.storage == type_.kind.version:
            return wire
        storage = versions.types[versions.storage]
        if versions.webhook is not None:
            (converted,) = await self._ask(versions, [wire], storage)
        else:
            converted = {**json_copy(wire), "apiVersion": storage.kind.api_version}
        storage.strategy.coerce(converted)
        return converted

    async def between(self, type_: ResourceType, wire: Wire, version: ResourceType) -> Wire:
        """An object of one version in another, as the webhook makes it: unknown fields stay."""
        if type_.versions is None or type_.versions.webhook is None:
            return {**wire, "apiVersion": version.kind.api_version}
        (converted,) = await self._ask(type_.versions, [wire], version)
        return converted

    def is_current(self, type_: ResourceType, value: bytes) -> bool:
        """Whether an object is stored as it would be written now: in the storage version, with the current defaults."""
        if (versions := type_.versions) is None:
            return True
        storage = versions.types[versions.storage]
        return version_of(type_, value) == versions.storage and storage.strategy.upgrade(value) == value

    async def supply(self, missing: NotConvertedYet) -> None:
        """Convert what a merge needs. If that fails, the merge fails when it asks for it again."""
        versions = missing.versions
        key = (key_of(missing.wire), missing.version)
        try:
            (converted,) = await self._ask(versions, [missing.wire], versions.types[missing.version])
        except Failure as refused:
            versions.converted[key] = refused
        else:
            _remember(versions, key, msgspec.json.encode(converted))

    def _at_once(self, type_: ResourceType, versions: Versions, value: bytes) -> bytes | None:
        """A stored object as it is read, unless a webhook must convert it."""
        if type_.strategy.is_shown_as_stored(value):
            return type_.strategy.upgrade(value)
        before = _stored_type(type_, versions, value)
        if before is not type_ and versions.webhook is not None:
            return None
        # The defaults are those of the storage version: the object has been through no other.
        filled = before.strategy.upgrade(value)
        if versions.alike(before, type_):
            return type_.strategy.show(filled)
        wire = unpack(type_, filled)
        type_.strategy.coerce(wire)
        return msgspec.json.encode(wire)

    def _remembered(self, type_: ResourceType, versions: Versions, value: bytes) -> bytes | None:
        if (at_once := self._at_once(type_, versions, value)) is not None:
            return at_once
        found = versions.converted.get((value, type_.kind.version))
        return found if isinstance(found, bytes) else None

    async def _converted(self, type_: ResourceType, versions: Versions, values: Sequence[bytes]) -> list[bytes]:
        befores = [_stored_type(type_, versions, value) for value in values]
        wires = [unpack(before, before.strategy.upgrade(value)) for before, value in zip(befores, values, strict=True)]
        shown = []
        for value, wire in zip(values, await self._ask(versions, wires, type_), strict=True):
            type_.strategy.coerce(wire)
            shown.append(msgspec.json.encode(with_head_first(wire)))
            _remember(versions, (value, type_.kind.version), shown[-1])
        return shown

    async def _ask(self, versions: Versions, wires: Sequence[Wire], type_: ResourceType) -> list[Wire]:
        """Have the webhook convert objects; a `Failure` says what went wrong."""
        webhook = versions.webhook or {}
        about = f"conversion webhook for {wires[0]['apiVersion']}, Kind={type_.kind.name}"
        try:
            accepted = webhook.get("conversionReviewVersions") or ()
            review = write_review(wires, type_.kind.api_version, ambient.uid(), accepted)
            config = msgspec.convert(webhook["clientConfig"], ClientConfig)
            reply = await self._caller.post(config, msgspec.json.encode(review), SECONDS)
            return read_review(body_of(reply), review, wires)
        except (CallFailed, InvalidClientConfig) as failed:
            raise failure(500, "", f"{about} failed: {failed}") from failed
        except InvalidConversionResponse as refused:
            raise failure(500, "", f"{about} {refused}") from refused
        except InvalidConvertedObject as refused:
            raise failure(500, "", str(refused)) from refused


def _stored_type(type_: ResourceType, versions: Versions, value: bytes) -> ResourceType:
    version = version_of(type_, value)
    if (found := versions.types.get(version)) is None:
        why = f"request to convert CR from an invalid group/version: {type_.kind.group}/{version}"
        raise failure(500, "", why)
    return found


def _remember(versions: Versions, key: tuple[bytes, str], value: bytes) -> None:
    _forget(versions, key)
    versions.converted[key] = value
    versions.converted_bytes += len(key[0]) + len(value)
    while len(versions.converted) > REMEMBERED or versions.converted_bytes > REMEMBERED_BYTES:
        oldest = next(iter(versions.converted))
        if oldest == key:  # the caller needs it in a moment
            break
        _forget(versions, oldest)


def _forget(versions: Versions, key: tuple[bytes, str]) -> None:
    known = versions.converted.pop(key, None)
    if isinstance(known, bytes):
        versions.converted_bytes -= len(key[0]) + len(known)
