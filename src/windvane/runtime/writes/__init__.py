"""What a pass writes: children and the status; no more than differs from what is there, and not without end."""
