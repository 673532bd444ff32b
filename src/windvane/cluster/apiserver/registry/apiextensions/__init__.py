"""The kinds of apiextensions.k8s.io."""
