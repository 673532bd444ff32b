"""The kinds of storagemigration.k8s.io."""

GROUP_PRIORITY = 15800
