"""A request, read once: what it is about, what is to be done, its options, and how long it may take."""
