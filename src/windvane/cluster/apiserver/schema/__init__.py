"""Built-in kinds as a Go server has them: their types, and how they are decoded and encoded."""
