"""The kinds of scheduling.k8s.io."""

GROUP_PRIORITY = 16600
