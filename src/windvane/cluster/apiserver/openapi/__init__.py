"""OpenAPI v2 and v3, from the same schemas that the server validates with."""
