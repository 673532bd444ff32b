"""`make run`: an etcd that the operator keeps, on this machine. It is no part of the operator's package."""
