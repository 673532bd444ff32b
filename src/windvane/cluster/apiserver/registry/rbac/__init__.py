"""The kinds of rbac.authorization.k8s.io."""

GROUP_PRIORITY = 17000
