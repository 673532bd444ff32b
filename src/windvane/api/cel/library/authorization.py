"""What admission policies ask the authorizer. Rules in CRDs have none to ask, but the functions are known by name."""

from windvane.api.cel.functions import Functions, member
from windvane.api.cel.types import BOOL, STRING, Type, struct
from windvane.api.cel.values import no_overload

_AUTHORIZER = struct("kubernetes.authorization.Authorizer")
_PATH, _GROUP = struct("kubernetes.authorization.PathCheck"), struct("kubernetes.authorization.GroupCheck")
_RESOURCE, _DECISION = struct("kubernetes.authorization.ResourceCheck"), struct("kubernetes.authorization.Decision")

_SIGNATURES: tuple[tuple[str, str, tuple[Type, ...], Type], ...] = (
    ("path", "authorizer_path", (_AUTHORIZER, STRING), _PATH),
    ("group", "authorizer_group", (_AUTHORIZER, STRING), _GROUP),
    ("serviceAccount", "authorizer_serviceaccount", (_AUTHORIZER, STRING, STRING), _AUTHORIZER),
    ("resource", "groupcheck_resource", (_GROUP, STRING), _RESOURCE),
    ("subresource", "resourcecheck_subresource", (_RESOURCE, STRING), _RESOURCE),
    ("namespace", "resourcecheck_namespace", (_RESOURCE, STRING), _RESOURCE),
    ("name", "resourcecheck_name", (_RESOURCE, STRING), _RESOURCE),
    ("fieldSelector", "authorizer_fieldselector", (_RESOURCE, STRING), _RESOURCE),
    ("labelSelector", "authorizer_labelselector", (_RESOURCE, STRING), _RESOURCE),
    ("check", "pathcheck_check", (_PATH, STRING), _DECISION),
    ("check", "resourcecheck_check", (_RESOURCE, STRING), _DECISION),
    ("errored", "decision_errored", (_DECISION,), BOOL),
    ("error", "decision_error", (_DECISION,), STRING),
    ("allowed", "decision_allowed", (_DECISION,), BOOL),
    ("reason", "decision_reason", (_DECISION,), STRING),
)

FUNCTIONS: Functions = {
    name: tuple(member(id_, args, result, no_overload) for other, id_, args, result in _SIGNATURES if other == name)
    for name, *_ in _SIGNATURES
}
