"""The admission plugin OwnerReferencesPermissionEnforcement, disabled by default: owner references take rights.

An object is deleted with its owner, so a client that changes its owners must have the right to delete it. And
`blockOwnerDeletion` delays the deletion of an owner, which takes the right to set its finalizers.
"""

from dataclasses import replace

from windvane.api.json_value import Wire
from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.failure import Failure, forbidden
from windvane.cluster.apiserver.registry.catalog import Catalog

UNDELETABLE = "cannot set an ownerRef on a resource you can't delete"
UNSTOPPABLE = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"


class OwnerReferencesPermissionEnforcement(AdmissionPlugin):
    """Guards `metadata.ownerReferences`."""

    name = "OwnerReferencesPermissionEnforcement"

    def __init__(self, authorizer: Authorizer, catalog: Catalog) -> None:
        self._authorizer = authorizer
        self._catalog = catalog

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether it may change owner references. The status of a pod can't."""
        if request.operation not in ("CREATE", "UPDATE") or request.object is None:
            return False
        of_pod = request.type.kind.resource == "pods" and request.subresource == "status"
        return not of_pod and _owners(request.object) != _owners(request.old)

    async def validate(self, request: AdmissionRequest) -> None:
        kind = request.type.kind
        about = Attributes(
            request.user, "delete", None, kind.group, kind.version, kind.plural, request.subresource,
            request.namespace if kind.namespaced else "", request.name,
        )  # fmt: skip
        if request.operation != "CREATE":  # creating an object takes no right to delete it
            self._must(request, about, UNDELETABLE)
        blocked = _newly_blocked(_owners(request.object), _owners(request.old))
        anything = Attributes(request.user, "update", None, "*", "*", "*", "finalizers", "", "*")
        if not blocked or self._authorizer.decide(anything).allowed:
            return
        for owner in blocked:
            for attributes in self._finalizing(request, owner):
                self._must(request, attributes, UNSTOPPABLE)

    def _finalizing(self, request: AdmissionRequest, owner: Wire) -> list[Attributes]:
        """The rights to set an owner's finalizers: for every resource of its kind."""
        group, _, version = str(owner.get("apiVersion", "")).rpartition("/")
        kind_name = str(owner.get("kind", ""))
        kinds = [each.kind for each in self._catalog.types.values() if each.kind.name == kind_name]
        served = [each for each in kinds if (each.group, each.version) == (group, version)]
        if not served:
            api_version = owner.get("apiVersion", "")
            unknown = f"no matches for kind {quoted(kind_name)} in version {quoted(api_version)}"
            why = f"cannot find RESTMapping for APIVersion {api_version} Kind {kind_name}: {unknown}"
            raise _refused(request, f"cannot set blockOwnerDeletion in this case because {why}")
        name = str(owner.get("name", ""))
        attributes = Attributes(request.user, "update", subresource="finalizers", name=name)
        return [
            replace(
                attributes,
                group=each.group,
                version=each.version,
                resource=each.plural,
                namespace=request.namespace if each.namespaced else "",
            )
            for each in served
        ]

    def _must(self, request: AdmissionRequest, attributes: Attributes, why_not: str) -> None:
        decision = self._authorizer.decide(attributes)
        if not decision.allowed:
            raise _refused(request, f"{why_not}: {decision.reason}, <nil>")


def _refused(request: AdmissionRequest, why: str) -> Failure:
    return forbidden(request.type.kind, called(request.object or {"metadata": {}}), why)


def _owners(wire: Wire | None) -> list[Wire]:
    return list(((wire or {}).get("metadata") or {}).get("ownerReferences") or ())


def _newly_blocked(owners: list[Wire], before: list[Wire]) -> list[Wire]:
    """The owners that newly have `blockOwnerDeletion`."""
    blocked = {each.get("uid") for each in before if each.get("blockOwnerDeletion")}
    return [each for each in owners if each.get("blockOwnerDeletion") and each.get("uid") not in blocked]
