"""Authorization: what a user may do, by roles and bindings; impersonation, and what may not be given away."""
