"""The runtime: informers that know what is there, queues of what may need work, controllers that do it."""
