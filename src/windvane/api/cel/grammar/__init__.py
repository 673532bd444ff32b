"""From text to trees: the grammar of CEL, its macros, and what is said of text that does not fit it."""
