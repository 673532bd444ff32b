"""What every cluster has from the start, made or brought up to date when the server starts."""
