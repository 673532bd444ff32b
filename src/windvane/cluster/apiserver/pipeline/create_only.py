"""Objects that are posted and never stored: bindings and evictions of pods, requests for tokens, and access reviews.

They pass mutating admission, defaulting, validation and validating admission, as stored objects do.
"""

from windvane.api.json_value import Wire
from windvane.api.resource import Object
from windvane.api.status import APIStatus
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.authorization.access_control import AccessControl
from windvane.cluster.apiserver.encoding.accept import write
from windvane.cluster.apiserver.failure import bad_request
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.pipeline import object_meta as metadata
from windvane.cluster.apiserver.pipeline.body import delete_options, read_builtin
from windvane.cluster.apiserver.pipeline.call import Call
from windvane.cluster.apiserver.pipeline.eviction import Evictions
from windvane.cluster.apiserver.pipeline.pod_binding import bind, check_binding
from windvane.cluster.apiserver.pipeline.preconditions import check_preconditions
from windvane.cluster.apiserver.pipeline.representation import status_bytes
from windvane.cluster.apiserver.pipeline.reviews import Reviews
from windvane.cluster.apiserver.pipeline.stages import AFTER_MUTATING
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_type
from windvane.cluster.apiserver.target import Target
from windvane.k8s import authentication, core, policy

# The groups of the review kinds.
REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")
# The kind that is posted to each subresource, and its older versions.
SUBRESOURCES: dict[str, tuple[type[Object], *tuple[str, ...]]] = {
    "binding": (core.Binding,),
    "eviction": (policy.Eviction, "policy/v1beta1"),
    "token": (authentication.TokenRequest,),
}
# Subresources where a stated uid must be that of the object.
WITH_UID = ("binding", "token")


def is_create_only(target: Target) -> bool:
    """Whether objects that are created there are never stored."""
    kind = target.type.kind
    return target.subresource in SUBRESOURCES or kind.group in REVIEWS or kind.resource == "bindings"


class CreateOnlyResources:
    """Answers requests to create such objects."""

    def __init__(
        self,
        catalog: Catalog,
        field_manager: FieldManager,
        writer: Writer,
        evictions: Evictions,
        access: AccessControl,
    ) -> None:
        self._catalog = catalog
        self._field_manager = field_manager
        self._writer = writer
        self._evictions = evictions
        self._access = access
        self._reviews = Reviews(access.authorizer, access.tokens)

    async def answer(self, call: Call, admission: Admission) -> Answer:
        """Carry out a request, and answer it."""
        posted = await self._changed(call, admission)
        match posted["kind"]:
            case "TokenRequest":
                return await self._issue(call, posted, admission)
            case "Binding":
                await self._bind(call, posted, admission)
            case "Eviction":
                await self._evict(call, posted, admission)
            case _:
                return await self._review(call, posted, admission)
        return call.answer(201, status_bytes(APIStatus(status="Success", code=201), call.shape))

    async def _changed(self, call: Call, admission: Admission) -> Wire:
        """The posted object after admission."""
        target, type_ = call.target, call.target.type
        older: list[str] = []
        if target.subresource:
            model, *older = SUBRESOURCES[target.subresource]
            type_ = builtin_type(model)
        posted = read_builtin(call.request, type_.kind, call.validation, *older)
        metadata.check_placement(target.type, posted, target.namespace)
        call.warnings.extend(metadata.drop_repeated_owners(posted))
        if target.subresource not in WITH_UID:
            metadata.clear_system_fields(posted)
        type_.strategy.decode(posted)
        self._field_manager.record_create(type_, posted, call.by, target.subresource)
        await admission.mutate(posted, None)
        type_.strategy.decode(posted)
        call.warnings.extend(metadata.drop_repeated_owners(posted, AFTER_MUTATING))
        return posted

    async def _review(self, call: Call, posted: Wire, admission: Admission) -> Answer:
        kind, reviews = call.target.type.kind.name, self._reviews
        reviews.check(kind, posted)
        await admission.validate(posted, None)
        return call.answer(201, write(reviews.answer(kind, posted, call.attributes.user), call.shape))

    async def _issue(self, call: Call, posted: Wire, admission: Admission) -> Answer:
        accounts = self._access.accounts
        accounts.complete(call.target.namespace, call.target.name, posted)
        await admission.validate(posted, None)
        return call.answer(201, write(accounts.issue(posted), call.shape))

    async def _bind(self, call: Call, posted: Wire, admission: Admission) -> None:
        name = _name_in(posted, call.target)
        check_binding(posted)
        await admission.validate(posted, None)
        if not name:
            raise bad_request("Name parameter required.")
        pod = self._pod(call.target, name)

        def assign(wire: Wire) -> Wire:
            check_preconditions(pod, posted, wire)
            return bind(wire, posted)

        await self._writer.amend(pod, assign, dry_run=call.dry_run)

    async def _evict(self, call: Call, posted: Wire, admission: Admission) -> None:
        name, options = _name_in(posted, call.target), posted.get("deleteOptions")
        if options is not None and call.dry_run:
            options["dryRun"] = ["All"]
        await admission.validate(posted, None)
        await self._evictions.evict(self._pod(call.target, name), delete_options(options or {}, call.query))

    def _pod(self, target: Target, name: str) -> Target:
        return Target(self._catalog.types["", "v1", "pods"], target.namespace, name)


def _name_in(posted: Wire, target: Target) -> str:
    """The name of the pod; in a collection it is that of the posted object."""
    name = str(posted["metadata"].get("name", ""))
    if target.subresource and name != target.name:
        raise bad_request(f"name in URL does not match name in {posted['kind']} object")
    return name
