"""What the API server knows about its own kinds beyond their schemas: defaults, and rules in the server's words."""
