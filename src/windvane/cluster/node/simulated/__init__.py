"""Containers that are not run but simulated, for pods whose images have no program."""
