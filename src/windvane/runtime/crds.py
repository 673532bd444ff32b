"""The CRDs of an operator's own kinds: put on the server by server-side apply, and waited for until they are served.

What another client manages, or what a newer operator left there, is never overwritten: that is said, and left to
people.
"""

import logging
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import Any, TypeAlias

from windvane import ambient
from windvane.api.custom_resources.crd import CustomResourceDefinition, crd
from windvane.api.resource import Dynamic, Object, Resource, kind_of
from windvane.client.client import Client
from windvane.client.errors import ClientError, Conflict, Forbidden, Invalid, NotFound, TooManyRequests, Unavailable
from windvane.runtime.conversion import GroupKind, group_kind

log = logging.getLogger(__name__)

Conversion: TypeAlias = Mapping[GroupKind, Mapping[str, Any]]
"""What spec.conversion says, of those kinds whose versions an operator converts."""
NO_CONVERSION: Conversion = MappingProxyType({})

ESTABLISHED_WITHIN = 60.0
FIRST_POLL, POLL = 0.02, 0.2


class NotInstalled(Exception):
    """A CRD could not be installed; the message says why, and how to go on."""


async def install_crds(
    client: Client, kinds: Iterable[type[Object]], *, conversion: Conversion = NO_CONVERSION
) -> None:
    """Have the server serve those of these kinds that are classes of the author's own; the rest is not ours.

    How versions are converted must be said in the same write that adds one: in between, objects would be read without
    the fields that have another name. So the webhook server must be there first.
    """
    own = [what for what in dict.fromkeys(kinds) if issubclass(what, Resource)]
    await install_definitions(client, definitions(own, conversion))
    for what in own:
        if what.__presentation__.served:
            await _wait_served(client, what)


async def install_definitions(client: Client, wanted: Iterable[Dynamic]) -> None:
    """Have the server have these CRDs, and wait until they are Established; `NotInstalled` if it can't."""
    for definition in wanted:
        name = definition.metadata.name
        try:
            await _install(client, definition)
        except Conflict as error:
            raise NotInstalled(
                f"{name} is managed by somebody else, and differs from what this operator declares: {error}. It was "
                "left as it is. Bring it up to date where it comes from, and leave out --install-crds; or hand it "
                "over, once, by applying crd(...) of the class with `kubectl apply --server-side --force-conflicts "
                f"--field-manager={client.field_manager}`"
            ) from error
        except Forbidden as error:
            raise NotInstalled(
                f"{error}. Grant the verbs get, create and patch on {kind_of(definition).resource} to the operator, or "
                "have somebody who may do it install the CRDs, and leave out --install-crds"
            ) from error
        except Invalid as error:
            raise NotInstalled(f"the server does not accept {name}: {error}") from error


def definitions(kinds: Iterable[type[Object]], conversion: Conversion = NO_CONVERSION) -> list[Dynamic]:
    """The CRDs of these kinds: one for all versions of a kind."""
    versions: dict[GroupKind, list[type[Object]]] = {}
    for what in kinds:
        versions.setdefault(group_kind(what), []).append(what)
    try:
        return [crd(*each, conversion=conversion.get(kind)) for kind, each in versions.items()]
    except TypeError as error:
        raise NotInstalled(f"there is no making a CRD: {error}") from error


async def _install(client: Client, definition: Dynamic) -> None:
    name = definition.metadata.name
    before = await _find(client, name)
    if before is not None:
        _check_untouchable(before, definition)
        _leave_conversion(before, definition)
    after = await client.apply(definition)
    if before is None:
        log.info("%s: installed", name)
    elif before.metadata.generation != after.metadata.generation:
        log.info("%s: changed, to generation %d", name, after.metadata.generation)
    else:
        log.info("%s: there already", name)
    await _wait_established(client, after)


async def _find(client: Client, name: str) -> Dynamic | None:
    try:
        return await client.get(CustomResourceDefinition, name)
    except NotFound:
        return None


def _leave_conversion(there: Dynamic, ours: Dynamic) -> None:
    """Where conversion is done by a webhook already, that is kept right by its server, under a name of its own: to
    say anything else here, if only an older certificate, would be a conflict.
    """
    conversion = there["spec"].get("conversion") or {}
    if "conversion" in ours["spec"] and conversion.get("strategy") == "Webhook":
        ours["spec"]["conversion"] = conversion


def _check_untouchable(there: Dynamic, ours: Dynamic) -> None:
    name = there.metadata.name
    if there.metadata.deletion_timestamp is not None:
        raise NotInstalled(f"{name} is being deleted, with all its objects. Try again when it has gone")
    if newer := [each for each in _versions(there) if each not in _versions(ours)]:
        raise NotInstalled(
            f"{name} has {', '.join(newer)}, which this operator does not know ({', '.join(_versions(ours))}): a newer "
            "one, or somebody else, put it there. It was left as it is. Run the newer operator; or leave out "
            "--install-crds, if this one can work with what is there"
        )


def _versions(definition: Dynamic) -> list[str]:
    return [each["name"] for each in definition["spec"]["versions"]]


async def _wait_established(client: Client, definition: Dynamic) -> None:
    name = definition.metadata.name
    deadline = ambient.monotonic() + ESTABLISHED_WITHIN
    pause = FIRST_POLL
    while not _is_established(definition):
        if ambient.monotonic() > deadline:
            raise NotInstalled(f"{name} is not Established after {ESTABLISHED_WITHIN:g} s: kubectl describe crd {name}")
        await ambient.sleep(pause)
        pause = min(2 * pause, POLL)
        # Looked at again and again, not watched: that would take the right to watch all CRDs.
        definition = await client.get(CustomResourceDefinition, name)


def _is_established(definition: Dynamic) -> bool:
    conditions: list[dict[str, Any]] = definition.content.get("status", {}).get("conditions") or []
    found = {each["type"]: each for each in conditions}
    if found.get("NamesAccepted", {}).get("status") == "False":
        raise NotInstalled(
            f"{definition.metadata.name}: another CRD has its names: {found['NamesAccepted'].get('message')}. Rename "
            "the kind, or delete that CRD"
        )
    return bool(found.get("Established", {}).get("status") == "True")


async def _wait_served(client: Client, what: type[Object]) -> None:
    """Wait until the kind can be watched: after it is Established, a real server takes a moment more for that.

    Else the first thing that an operator says would be that there is a problem.
    """
    deadline = ambient.monotonic() + ESTABLISHED_WITHIN
    while ambient.monotonic() < deadline:
        try:
            async with aclosing(client.watch(what, initial=True)) as events:
                await anext(events)
                return
        except (NotFound, TooManyRequests, Unavailable):
            await ambient.sleep(POLL)
        except ClientError:
            return  # for one, it may not look into all namespaces: what is wrong, if anything, the informer will say
