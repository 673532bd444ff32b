"""SelfSubjectAccessReview."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authorization


class SelfSubjectAccessReviewStrategy(BuiltinStrategy):
    """SelfSubjectAccessReview."""

    model = authorization.SelfSubjectAccessReview
    verbs = ("create",)
    defaults = {"spec": {}, "status.allowed": False}
