"""The strategy of VolumeAttachment."""

from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.subresource import StatusOnlyStrategy
from windvane.k8s import storage


class VolumeAttachmentStrategy(BuiltinStrategy):
    model = storage.VolumeAttachment
    allow_unconditional_update = False
    returned_when_deleted = True
    columns = (
        NAME,
        Column("Attacher", field("spec.attacher"), format="name"),
        Column("PV", field("spec.source.persistentVolumeName")),
        Column("Node", field("spec.nodeName")),
        Column("Attached", field("status.attached", False), "boolean"),
        AGE,
    )
    column_fields = {
        "Attacher": "storage.v1.VolumeAttachmentSpec.attacher",
        "PV": "storage.v1.VolumeAttachmentSource.persistentVolumeName",
        "Node": "storage.v1.VolumeAttachmentSpec.nodeName",
        "Attached": "storage.v1.VolumeAttachmentStatus.attached",
    }
    status = StatusOnlyStrategy()
