"""What objects of built-in kinds are to a Go server: their types, how they are decoded, and how they are written."""
