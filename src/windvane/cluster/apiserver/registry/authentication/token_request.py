"""The strategy of TokenRequest."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authentication


class TokenRequestStrategy(BuiltinStrategy):
    model = authentication.TokenRequest
    has_path = False
    defaults = {
        "spec.audiences": None,
        "spec.boundObjectRef": None,
        "spec.expirationSeconds": 3600,
        "status.expirationTimestamp": None,
        "status.token": "",
    }
