"""The old annotation for a StorageClass, of which volumes and claims warn."""

OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
USE_CLASS = 'deprecated since v1.8; use "storageClassName" attribute instead'
