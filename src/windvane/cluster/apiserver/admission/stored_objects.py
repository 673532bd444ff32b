"""What an admission plugin reads from the store."""

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store


class StorePlugin(AdmissionPlugin):
    """An admission plugin that looks at other objects in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def stored_object(self, collection: str, name: str) -> Wire | None:
        """A cluster-scoped object; None if it does not exist."""
        entry = self._store.get(Key(collection, "", name))
        found: Wire | None = msgspec.json.decode(entry.value) if entry is not None else None
        return found

    def stored_objects(self, collection: str, namespace: str = "") -> list[Wire]:
        """All objects of a collection, or those in a namespace."""
        return [msgspec.json.decode(entry.value) for entry in self._store.entries(collection, namespace)]
