"""The strategy of CSIStorageCapacity."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import storage


class CSIStorageCapacityStrategy(BuiltinStrategy):
    model = storage.CSIStorageCapacity
    allow_unconditional_update = False
