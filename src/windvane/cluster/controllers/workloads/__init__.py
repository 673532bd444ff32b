"""ReplicaSets, and what all controllers that own pods share."""
