"""Patches: JSON patch, merge patch and strategic merge patch, each a function from one document to the next."""
