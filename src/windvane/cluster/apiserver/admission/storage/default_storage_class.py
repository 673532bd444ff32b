"""The admission plugin DefaultStorageClass: a claim that names no class gets the default one."""

from windvane.cluster.apiserver.admission.default_class import DefaultClassPlugin


class DefaultStorageClass(DefaultClassPlugin):
    """Reads the StorageClasses in the store."""

    name = "DefaultStorageClass"
    resources = frozenset({"persistentvolumeclaims"})
    collection = "storage.k8s.io/storageclasses"
    is_default = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
    field = "storageClassName"
    annotation = "volume.beta.kubernetes.io/storage-class"
