"""Rules that many kinds share, and the words in which broken ones are told."""
