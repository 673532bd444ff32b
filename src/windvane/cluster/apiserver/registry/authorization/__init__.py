"""The kinds of authorization.k8s.io."""

GROUP_PRIORITY = 17600
