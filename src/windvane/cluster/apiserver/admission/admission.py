"""One request on its way through admission: the plugins are asked about its object, each time that it is tried.

An object stays the same `dict` when a plugin puts another in its place: the caller goes on with the one it has.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.admission.request import AdmissionRequest, Operation
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.escalation_check import Guard
from windvane.cluster.apiserver.managedfields.managed_fields import stated_managed_fields
from windvane.cluster.apiserver.target import Target

BAD_MANAGERS = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests"
)


@dataclass(slots=True, kw_only=True)
class Admission:
    """What is the same for all objects of a request, and what its client is told in the end."""

    chain: Chain
    target: Target
    user: User
    guard: Guard
    """What the client must be allowed, beyond the request as such, to write what it writes."""
    check_create: Callable[[], None]
    """Whether the client may make what is not there yet, whichever the request's verb; it says no as `guard` does."""
    options: Wire
    """The request's own: UpdateOptions, say, with apiVersion and kind."""
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    _sent_as: str = field(default="", init=False)
    """The name of a new object as it was sent. A plugin may give it another, but the request stays what it was."""

    async def mutate(self, new: Wire, old: Wire | None) -> None:
        """Have an object changed that is to be stored, in place."""
        self._sent_as = _name(new) if old is None else ""
        request = self._request("CREATE" if old is None else "UPDATE", new, old)
        if not self._handled(request):
            return
        managers = (new.get("metadata") or {}).get("managedFields")
        await self.chain.mutate(request)
        if request.object is not None and request.object is not new:
            new.clear()
            new.update(request.object)
            self._mind_managers(new, managers)

    async def validate(self, new: Wire, old: Wire | None) -> None:
        """Have an object looked at that is to be stored, as it will be."""
        request = self._request("CREATE" if old is None else "UPDATE", new, old)
        if self._handled(request):
            await self.chain.validate(request)

    async def delete(self, old: Wire, granted: int | None = None) -> None:
        """Ask whether an object may go, with as many seconds as it is granted.

        One that goes with others has no name here, as it has none in the path, and no time that it has.
        """
        request = self._request("DELETE", None, old)
        if granted is not None and self.target.name:
            request.options = {**self.options, "gracePeriodSeconds": granted}
        await self._ask_all(request)

    async def connect(self, options: Wire) -> Wire:
        """Ask whether the client may talk to what is behind an object, and how: what comes of the options."""
        request = self._request("CONNECT", options, None)
        await self._ask_all(request)
        return request.object or options

    def _mind_managers(self, new: Wire, before: Any) -> None:
        """Have the managed fields be as they were, if a plugin has made something of them that can't be read."""
        metadata = new.get("metadata") or {}
        try:
            stated_managed_fields(metadata.get("managedFields") or [])
        except ValueError as error:
            metadata.pop("managedFields")
            if before:
                metadata["managedFields"] = before
            self.warnings.append(f"{BAD_MANAGERS}: {error}")

    async def _ask_all(self, request: AdmissionRequest) -> None:
        if self._handled(request):
            await self.chain.mutate(request)
            await self.chain.validate(request)

    def _handled(self, request: AdmissionRequest) -> bool:
        """Whether anybody is to be asked. Only then the options are made what they are to be, if they are not yet."""
        if not self.chain.handles(request):
            return False
        if request.options is None:
            request.options = self._options(request.operation)
        return True

    def _request(self, operation: Operation, new: Wire | None, old: Wire | None) -> AdmissionRequest:
        target, kind = self.target, self.target.type.kind
        name = target.name or self._sent_as or _name(new)
        return AdmissionRequest(
            operation=operation,
            type=target.type,
            subresource=target.subresource,
            # As for access control, a Namespace counts as in itself.
            namespace=name if kind.resource == "namespaces" else target.namespace,
            name=name,
            object=new,
            old=old,
            dry_run=self.dry_run,
            user=self.user,
            warnings=self.warnings,
            annotations=self.annotations,
        )

    def _options(self, operation: Operation) -> Wire | None:
        """The request's options, as those of what it comes to: a patch updates, or creates. To connect has none."""
        if operation == "CONNECT":
            return None
        if operation == "DELETE":
            return self.options
        kept = {name: value for name, value in self.options.items() if name != "force"}
        return {**kept, "kind": f"{operation.capitalize()}Options"}


def _name(wire: Wire | None) -> str:
    return ((wire or {}).get("metadata") or {}).get("name") or ""
