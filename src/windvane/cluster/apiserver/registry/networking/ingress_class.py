"""The strategy of IngressClass."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, Column, field, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import networking


def _class_name(ingress_class: Wire) -> str:
    annotations = read(ingress_class, "metadata.annotations") or {}
    default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    return str(read(ingress_class, "metadata.name")) + (" (default)" if default else "")


def _parameters(ingress_class: Wire) -> str:
    parameters = read(ingress_class, "spec.parameters")
    if parameters is None:
        return "<none>"
    group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") is not None else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


class IngressClassStrategy(BuiltinStrategy):
    model = networking.IngressClass
    has_generation = True
    columns = (
        Column("Name", _class_name, format="name"),
        Column("Controller", field("spec.controller")),
        Column("Parameters", _parameters),
        AGE,
    )

    def set_defaults(self, obj: Wire) -> None:
        if parameters := obj.get("spec", {}).get("parameters"):
            fill(parameters, "scope", "Cluster")

    def validate(self, obj: Wire, problems: Problems) -> None:
        controller = obj.get("spec", {}).get("controller", "")
        domain, slash, rest = controller.partition("/")
        if not slash or not domain or not rest:
            rule = 'must be a domain-prefixed path (such as "acme.io/foo")'
            problems.invalid("spec.controller", controller, rule)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        now, was = (each.get("spec", {}).get("controller") for each in (obj, old))
        problems.immutable("spec.controller", now, was)
