"""The embedded API server: a store, the rules of the Kubernetes API over it, and transports for requests."""
