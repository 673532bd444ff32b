"""metadata.managedFields, which record the owner of each field, and server-side apply."""
