"""Pod security: how much a pod may do to its node, by the standards that the labels of its namespace name."""
