"""Custom kinds: what a CustomResourceDefinition must be, and how it comes to be served."""
