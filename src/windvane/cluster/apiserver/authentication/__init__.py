"""Authentication: which user a request is from, by its certificate or its bearer token."""
