"""The strategy of LocalSubjectAccessReview."""

from windvane.cluster.apiserver.registry.authorization.subject_access_review import SubjectAccessReviewStrategy
from windvane.k8s import authorization


class LocalSubjectAccessReviewStrategy(SubjectAccessReviewStrategy):
    model = authorization.LocalSubjectAccessReview
