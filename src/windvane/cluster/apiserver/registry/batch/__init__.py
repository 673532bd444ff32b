"""The kinds of batch."""
