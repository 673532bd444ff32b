"""The strategy of SelfSubjectRulesReview."""

from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import authorization


class SelfSubjectRulesReviewStrategy(BuiltinStrategy):
    model = authorization.SelfSubjectRulesReview
    verbs = ("create",)
    defaults = {"spec": {}, "status.incomplete": False, "status.nonResourceRules": None, "status.resourceRules": None}
