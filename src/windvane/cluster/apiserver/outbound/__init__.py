"""Calls that the API server makes itself: to webhooks, by URL or behind a Service."""
