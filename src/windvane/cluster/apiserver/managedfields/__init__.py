"""metadata.managedFields: which manager owns which field of an object; and server-side apply, which merges by them."""
