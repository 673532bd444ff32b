"""The strategy of CSINode."""

from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, count
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import storage


class CSINodeStrategy(BuiltinStrategy):
    model = storage.CSINode
    allow_unconditional_update = False
    returned_when_deleted = True
    columns = (NAME, Column("Drivers", count("spec.drivers"), "integer"), AGE)
