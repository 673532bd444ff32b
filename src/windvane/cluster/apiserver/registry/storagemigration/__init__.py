"""The kinds of storagemigration.k8s.io."""
