"""Objects in files, as people write them, and what `kubectl apply` makes of one that is there already."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from windvane.api.resource import Dynamic, object_from_wire, object_to_wire
from windvane.client.client import Client
from windvane.client.errors import NotFound

Wire = dict[str, Any]
KUBECTL, CLIENT_SIDE = "kubectl", "kubectl-client-side-apply"
"""The field managers of kubectl: of --server-side, and of what it does by itself."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class BadManifest(Exception):
    """A file that is no list of objects; the message says which, and what is wrong with it."""


def read_manifests(named: str) -> list[Wire]:
    """The objects in a file, or in standard input if it is `-`."""
    import yaml

    place = "standard input" if named == "-" else named
    try:
        text = sys.stdin.read() if named == "-" else Path(named).read_text(encoding="utf-8")
        documents = [each for each in yaml.safe_load_all(text) if each is not None]
    except OSError as error:
        raise BadManifest(f"{place} can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadManifest(f"{place} is no text in UTF-8") from error
    except yaml.YAMLError as error:
        raise BadManifest(f"{place} is no YAML: {' '.join(str(error).split())}") from error
    objects = [each for document in documents for each in _objects(document, place)]
    if not objects:
        raise BadManifest(f"there is no object in {place}")
    return objects


def _objects(document: Any, place: str) -> Iterator[Wire]:
    if not isinstance(document, dict):
        raise BadManifest(f"{place} has something that is no object: {str(document)[:60]!r}")
    if str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
        for each in document["items"]:
            yield from _objects(each, place)
        return
    metadata = document.get("metadata")
    for said, what in (
        (document.get("apiVersion"), "apiVersion"),
        (document.get("kind"), "kind"),
        (metadata.get("name") if isinstance(metadata, dict) else None, "metadata.name"),
    ):
        if not isinstance(said, str) or not said:
            raise BadManifest(f"{place} has an object without {what}: write it there")
    # Dates and the like are text to an API server.
    yield msgspec.json.decode(msgspec.json.encode(document))


def last_applied(there: Wire) -> Wire | None:
    """What `kubectl apply` noted when it wrote an object last; None if it was written in another way."""
    said = (there["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        noted = msgspec.json.decode(said) if said else None
    except msgspec.DecodeError:
        return None
    return noted if isinstance(noted, dict) else None


def three_way(noted: Wire, stated: Wire, there: Wire) -> Wire:
    """The merge patch that `kubectl apply` makes: what is stated now, without what only the last one stated.

    Lists are taken as one value.
    """
    patch: Wire = {}
    for name, value in stated.items():
        was, is_ = noted.get(name), there.get(name)
        if isinstance(value, dict) and isinstance(is_, dict):
            if inner := three_way(was if isinstance(was, dict) else {}, value, is_):
                patch[name] = inner
        elif value != is_:
            patch[name] = value
    patch |= {name: None for name in noted if name not in stated and name in there}
    return patch


async def apply_as_kubectl(client: Client, what: type[Dynamic], stated: Wire, namespace: str) -> Dynamic:
    """Have an object be as stated: as `kubectl apply` does if that wrote it last, else with --server-side."""
    name = stated["metadata"]["name"]
    try:
        there = object_to_wire(await client.get(what, name, namespace=namespace))
    except NotFound:
        there = None
    if there is None or (noted := last_applied(there)) is None:
        return await client.apply(object_from_wire(stated, what), force=True, field_manager=KUBECTL)
    if namespace:  # which the file may not say, or say by now
        noted["metadata"] = {**noted.get("metadata", {}), "namespace": namespace}
    as_kubectl = Client(client.calls.transport, field_manager=CLIENT_SIDE)
    return await as_kubectl.patch(what, name, three_way(noted, stated, there), namespace=namespace)
