"""What is in the store, as admission plugins look at it."""

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store


def stored_object(store: Store, collection: str, name: str) -> Wire | None:
    """One object that is in no namespace; None if it isn't there."""
    entry = store.get(Key(collection, "", name))
    found: Wire | None = msgspec.json.decode(entry.value) if entry is not None else None
    return found


def stored_objects(store: Store, collection: str, namespace: str = "") -> list[Wire]:
    """All objects of a collection, or those in a namespace."""
    return [msgspec.json.decode(entry.value) for entry in store.entries(collection, namespace)]
