"""How requests reach the server: over HTTPS, or by a function call, with the same checks at the door."""
