"""Conversion of custom objects between the versions of their kind."""
