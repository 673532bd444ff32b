"""The node lifecycle controller: nodes that are lost, their taints, and eviction."""
