"""Custom objects in the versions of their kind: the one they are stored in, and those they are asked for in."""
