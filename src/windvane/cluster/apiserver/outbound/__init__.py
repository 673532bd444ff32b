"""Calls from the API server to webhooks, by URL or through a Service."""
