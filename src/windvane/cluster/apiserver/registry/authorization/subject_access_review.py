"""SubjectAccessReview."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authorization


class SubjectAccessReviewStrategy(BuiltinStrategy):
    """SubjectAccessReview."""

    model = authorization.SubjectAccessReview
    verbs = ("create",)
    defaults = {"spec": {}, "status.allowed": False}
