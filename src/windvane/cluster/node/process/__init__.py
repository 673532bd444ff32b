"""Containers as processes of this machine: how one is described, launched, isolated and ended."""
