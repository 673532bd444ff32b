"""Writes `windvane.k8s` from Kubernetes' own OpenAPI definitions: `make generate`."""
