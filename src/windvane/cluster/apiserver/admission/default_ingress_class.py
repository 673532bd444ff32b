"""The admission plugin DefaultIngressClass: an Ingress that names no class gets the default one."""

from windvane.cluster.apiserver.admission.default_class import DefaultClassPlugin


class DefaultIngressClass(DefaultClassPlugin):
    """Reads IngressClasses."""

    name = "DefaultIngressClass"
    resources = frozenset({"ingresses.networking.k8s.io"})
    collection = "networking.k8s.io/ingressclasses"
    is_default = ("ingressclass.kubernetes.io/is-default-class",)
    field = "ingressClassName"
    annotation = "kubernetes.io/ingress.class"
