"""The kinds of flowcontrol.apiserver.k8s.io."""

GROUP_PRIORITY = 16100
