"""The strategy of SelfSubjectReview."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authentication


class SelfSubjectReviewStrategy(BuiltinStrategy):
    model = authentication.SelfSubjectReview
    verbs = ("create",)
    defaults = {"status.userInfo": {}}
