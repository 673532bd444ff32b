"""SelfSubjectReview."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authentication


class SelfSubjectReviewStrategy(BuiltinStrategy):
    """SelfSubjectReview."""

    model = authentication.SelfSubjectReview
    verbs = ("create",)
    defaults = {"status.userInfo": {}}
