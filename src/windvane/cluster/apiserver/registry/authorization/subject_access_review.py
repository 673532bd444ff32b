"""The strategy of SubjectAccessReview, and of the reviews that differ in nothing else than their subjects."""

from windvane.api.resource import Object
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authorization


class SubjectAccessReviewStrategy(BuiltinStrategy):
    """A question that is answered and forgotten."""

    model: type[Object] = authorization.SubjectAccessReview
    verbs = ("create",)
    defaults = {"spec": {}, "status.allowed": False}
