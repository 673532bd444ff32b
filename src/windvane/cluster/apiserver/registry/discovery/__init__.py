"""The kinds of discovery.k8s.io."""

GROUP_PRIORITY = 16200
