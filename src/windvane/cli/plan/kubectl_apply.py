"""What `kubectl apply` makes of an object that is there already."""

from typing import Any

import msgspec

from windvane.api.resource import Dynamic, object_from_wire, object_to_wire
from windvane.client.client import Client
from windvane.client.errors import NotFound

Wire = dict[str, Any]
KUBECTL, CLIENT_SIDE = "kubectl", "kubectl-client-side-apply"
"""The field managers of kubectl: of --server-side, and of what it does by itself."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


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
