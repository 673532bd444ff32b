"""The strategy of Eviction."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import policy


class EvictionStrategy(BuiltinStrategy):
    model = policy.Eviction
    has_path = False
