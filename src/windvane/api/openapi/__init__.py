"""Schemas at work as in the API server: whether one is structural, pruning, defaults, every check of a value."""
