"""What a resource is: kinds, metadata, conditions, values, selectors, schemas and CRDs. No I/O."""
