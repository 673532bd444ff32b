"""The kinds of coordination.k8s.io."""

GROUP_PRIORITY = 16500
