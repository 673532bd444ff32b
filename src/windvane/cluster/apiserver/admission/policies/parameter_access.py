"""A client that writes a policy or a binding must be allowed to read its params: refusals could reveal them."""

import msgspec

from windvane.api.json_value import Wire
from windvane.api.wording import forbidden
from windvane.cluster.apiserver.admission.matcher import REGISTRATION
from windvane.cluster.apiserver.admission.order import PARAMETER_ACCESS
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.policies.params import UnknownKind, type_of
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.authorization.rbac import SUPERUSERS
from windvane.cluster.apiserver.failure import Failure, invalid
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

_POLICIES = {
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
}
_BINDINGS = {f"{kind}Binding": plural for kind, plural in _POLICIES.items()}


class ParameterAccess(AdmissionPlugin):
    """Checks writes of policies and bindings. kube-apiserver does this when it validates them."""

    name = PARAMETER_ACCESS

    def __init__(self, store: Store, catalog: Catalog, authorizer: Authorizer) -> None:
        self._store = store
        self._catalog = catalog
        self._authorizer = authorizer

    def handles(self, request: AdmissionRequest) -> bool:
        kind = request.type.kind
        written = request.object is not None and not request.subresource
        ours = kind.group == REGISTRATION and (kind.name in _POLICIES or kind.name in _BINDINGS)
        return ours and written and SUPERUSERS not in request.user.groups

    async def validate(self, request: AdmissionRequest) -> None:
        """Refuse it if the client may not read its params, unless they are unchanged."""
        new, old = (((wire or {}).get("spec") or {}) for wire in (request.object, request.old))
        if request.type.kind.name in _POLICIES:
            if (kind := new.get("paramKind")) is not None and kind != old.get("paramKind"):
                self._check_policy(request, kind)
        elif new.get("paramRef") is not None and (
            (new["paramRef"], new.get("policyName")) != (old.get("paramRef"), old.get("policyName"))
        ):
            self._check_binding(request, new)

    def _check_policy(self, request: AdmissionRequest, kind: Wire) -> None:
        attributes = self._attributes(request.user, "get", kind, name="*", namespace="*")
        if not self._authorizer.decide(attributes).allowed:
            which = f"(kind={kind.get('kind', '')}, apiVersion={kind.get('apiVersion', '')})"
            must = f'must have "get" permission on all objects of the referenced paramKind {which}'
            raise _refusal(request, "spec.paramKind", f"user {_shown(request.user)} {must}")

    def _check_binding(self, request: AdmissionRequest, spec: Wire) -> None:
        reference, policy = spec["paramRef"], spec.get("policyName", "")
        entry = self._store.get(Key(f"{REGISTRATION}/{_BINDINGS[request.type.kind.name]}", "", policy))
        kind = (msgspec.json.decode(entry.value).get("spec") or {}).get("paramKind") if entry is not None else None
        name, verb = reference.get("name") or "", "get" if reference.get("name") else "list"
        attributes = self._attributes(request.user, verb, kind, name=name, namespace=reference.get("namespace") or "")
        if self._authorizer.decide(attributes).allowed:
            return
        who, lacks = _shown(request.user), f'does not have "{verb}" permission'
        everything = f"user {who} {lacks} for all groups, versions and resources"
        everything = f"to determine minimum required permissions and {everything}"
        if entry is None:
            raise _refusal(request, "spec.paramRef", f"unable to get policy {policy} {everything}")
        if kind is not None and attributes.resource == "*":
            convert = f"&{{{kind.get('apiVersion', '')} {kind.get('kind', '')}}}"
            raise _refusal(request, "spec.paramRef", f"unable to resolve paramKind {convert} {everything}")
        if request.type.kind.name.startswith("Mutating"):
            who, lacks = verb, f'does not have "{who}" permission'  # the real server mixes these up
        raise _refusal(request, "spec.paramRef", f"user {who} {lacks} on the object referenced by paramRef")

    def _attributes(self, user: User, verb: str, kind: Wire | None, *, name: str, namespace: str) -> Attributes:
        """The attributes of reading params; of all kinds if theirs is unknown."""
        group, version, resource = "*", "*", "*"
        if kind is not None:
            group, _, version = kind.get("apiVersion", "").rpartition("/")
            try:
                found = type_of(kind, self._catalog)
                resource = found.kind.plural if found is not None else resource
            except UnknownKind:
                pass
        return Attributes(user, verb, None, group, version, resource, "", namespace, name)


def _refusal(request: AdmissionRequest, field: str, why: str) -> Failure:
    return invalid(request.type.kind, request.name, [forbidden(field, why)])


def _shown(user: User) -> str:
    """A user as Go prints one."""
    extra = " ".join(f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
