"""The kinds of certificates.k8s.io."""

GROUP_PRIORITY = 17300
