"""One typed, asynchronous client for any Kubernetes API server, over HTTPS or in process."""
