"""The strategy of VolumeAttributesClass."""

from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import storage


class VolumeAttributesClassStrategy(BuiltinStrategy):
    model = storage.VolumeAttributesClass
    returned_when_deleted = True
    columns = (NAME, Column("DriverName", field("driverName")), AGE)
    column_fields = {"DriverName": "storage.v1.VolumeAttributesClass.driverName"}
