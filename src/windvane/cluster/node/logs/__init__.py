"""What containers write to stdout and stderr: the files that keep it, and how they are read."""
