"""The scheduler: which node each pod gets."""
