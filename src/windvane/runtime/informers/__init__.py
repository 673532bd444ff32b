"""What a controller sees of the cluster: informers, each of one kind, their caches, and what is read from them."""
