"""The strategy of TokenReview."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authentication


class TokenReviewStrategy(BuiltinStrategy):
    model = authentication.TokenReview
    verbs = ("create",)
    defaults = {"spec": {}, "status.user": {}}
