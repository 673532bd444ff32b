"""The kinds of node.k8s.io."""

GROUP_PRIORITY = 16300
