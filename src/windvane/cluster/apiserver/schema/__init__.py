"""Schemas at work: pruning, defaults, and every check of a value, for built-in and custom kinds alike."""
