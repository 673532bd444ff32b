"""The kinds of events.k8s.io."""

GROUP_PRIORITY = 17750
