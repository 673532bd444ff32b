"""Authorization: what a user may do, by roles and bindings; reviews, impersonation, and what may not be given away."""
