"""Streams from and to containers: exec, attach, and their output."""
