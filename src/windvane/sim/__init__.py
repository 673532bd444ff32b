"""Simulation: a world whose time passes only when nothing is left to do in it."""
