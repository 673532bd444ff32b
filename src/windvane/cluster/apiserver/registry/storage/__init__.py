"""The kinds of storage.k8s.io."""

GROUP_PRIORITY = 16800
