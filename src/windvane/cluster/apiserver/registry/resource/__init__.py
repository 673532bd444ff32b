"""The kinds of resource.k8s.io."""

GROUP_PRIORITY = 16200
