"""The kinds of rbac.authorization.k8s.io."""
