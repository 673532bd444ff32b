"""The kinds of authentication.k8s.io."""

GROUP_PRIORITY = 17700
