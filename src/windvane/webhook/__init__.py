"""Webhooks: what the API server asks an operator before it stores an object or to convert one, and how it is served."""
