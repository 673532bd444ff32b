"""The strategy of Binding."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import core


class BindingStrategy(BuiltinStrategy):
    model = core.Binding
    verbs = ("create",)
    defaults = {"target": {}}
