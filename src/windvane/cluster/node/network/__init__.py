"""Addresses of pods and Services, and the proxy that brings connections to the pods behind a Service."""
