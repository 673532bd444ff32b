"""Startup, liveness and readiness probes, and the handlers that hooks share with them."""
