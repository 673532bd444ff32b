"""`windvane dev`: a cluster, an operator in it that is reloaded when its code is saved, and a view of what happens."""
