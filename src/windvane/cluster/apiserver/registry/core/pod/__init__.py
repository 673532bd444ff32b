"""Pods, and what templates of pods share with them."""
