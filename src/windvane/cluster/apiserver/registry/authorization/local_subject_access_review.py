"""LocalSubjectAccessReview."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authorization


class LocalSubjectAccessReviewStrategy(BuiltinStrategy):
    """LocalSubjectAccessReview."""

    model = authorization.LocalSubjectAccessReview
    verbs = ("create",)
    defaults = {"spec": {}, "status.allowed": False}
