"""The kinds of admissionregistration.k8s.io."""

GROUP_PRIORITY = 16700
