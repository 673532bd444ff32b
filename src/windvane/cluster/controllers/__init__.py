"""The built-in controllers, written with what `windvane` exports, as any operator is: a folder for each family."""
