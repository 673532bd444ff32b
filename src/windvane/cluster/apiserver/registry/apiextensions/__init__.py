"""The kinds of apiextensions.k8s.io."""

GROUP_PRIORITY = 16700
