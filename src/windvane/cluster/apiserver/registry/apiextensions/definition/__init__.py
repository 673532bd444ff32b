"""CustomResourceDefinitions: rules for their parts, and what the server notes in their status."""
