"""The embedded control plane: a Kubernetes API on one machine, for development, tests and simulation."""
