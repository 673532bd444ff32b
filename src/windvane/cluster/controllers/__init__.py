"""The built-in controllers, written with `windvane.runtime` as any operator is: one module for each matter."""
