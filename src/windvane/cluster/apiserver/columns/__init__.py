"""What `kubectl get` shows of each kind: its columns, and how each cell is read from an object."""
