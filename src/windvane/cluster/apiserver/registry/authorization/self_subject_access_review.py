"""The strategy of SelfSubjectAccessReview."""

from windvane.cluster.apiserver.registry.authorization.subject_access_review import SubjectAccessReviewStrategy
from windvane.k8s import authorization


class SelfSubjectAccessReviewStrategy(SubjectAccessReviewStrategy):
    model = authorization.SelfSubjectAccessReview
