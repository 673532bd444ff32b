"""The store: one log of changes, in memory and in a SQLite file."""
