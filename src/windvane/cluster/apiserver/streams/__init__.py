"""What passes through the API server between a client and a pod: logs, commands, connections, resource metrics."""
