"""Who may do what: users, tokens, roles and bindings, reviews, impersonation, the audit log."""
