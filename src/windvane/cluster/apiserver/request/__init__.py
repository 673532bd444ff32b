"""A request, parsed once: its RequestInfo, its options, and how long it may take."""
