"""The kinds of apiregistration.k8s.io."""

# The aggregator, which goes by priorities, has none for its own group: it is before all others.
GROUP_PRIORITY = 17900
