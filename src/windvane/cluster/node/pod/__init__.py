"""One pod, without anything that runs it: its record, what is done next, its status. Pure functions."""
