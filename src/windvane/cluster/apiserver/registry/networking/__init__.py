"""The kinds of networking.k8s.io."""

GROUP_PRIORITY = 17200
