"""What kinds there are, and all that is said of each: a strategy per kind, in one file per kind."""
