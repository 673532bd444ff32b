"""The kinds: one strategy for each, in one file for each."""
