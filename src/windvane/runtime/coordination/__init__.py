"""How replicas share the work, by Leases: one leads, or each works on the keys of the shards that it holds."""
