"""The admission of one request: calls the plugins about its object, once for each attempt to store it.

If a plugin replaces the object, its contents are copied into the caller's `dict`.
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
    """What is the same for all attempts of a request, and the warnings that it ends with."""

    chain: Chain
    target: Target
    user: User
    guard: Guard
    """Checks rights beyond those of the request itself, such as to escalate."""
    check_create: Callable[[], None]
    """Checks the right to create, for an update or an apply that creates; raises a `Failure`."""
    options: Wire
    """The request's options, such as UpdateOptions, with apiVersion and kind."""
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    _sent_as: str = field(default="", init=False)
    """The name of a new object as it was sent. A plugin may rename the object, but not the request."""

    async def mutate(self, new: Wire, old: Wire | None) -> None:
        """Pass an object through mutating admission; changes it in place."""
        self._sent_as = _name(new) if old is None else ""
        request = self._request("CREATE" if old is None else "UPDATE", new, old)
        if not self._handled(request):
            return
        managers = (new.get("metadata") or {}).get("managedFields")
        await self.chain.mutate(request)
        if request.object is not None and request.object is not new:
            new.clear()
            new.update(request.object)
            self._restore_managers(new, managers)

    async def validate(self, new: Wire, old: Wire | None) -> None:
        """Pass an object through validating admission."""
        request = self._request("CREATE" if old is None else "UPDATE", new, old)
        if self._handled(request):
            await self.chain.validate(request)

    async def delete(self, old: Wire, granted: int | None = None) -> None:
        """Pass a deletion through admission; `granted` is the grace period.

        In a deletecollection, requests have neither a name nor a grace period.
        """
        request = self._request("DELETE", None, old)
        if granted is not None and self.target.name:
            request.options = {**self.options, "gracePeriodSeconds": granted}
        await self._run(request)

    async def connect(self, options: Wire) -> Wire:
        """Pass connect options through admission; returns them as plugins leave them."""
        request = self._request("CONNECT", options, None)
        await self._run(request)
        return request.object or options

    def _restore_managers(self, new: Wire, before: Any) -> None:
        """Restore the managedFields if a plugin has made them invalid."""
        metadata = new.get("metadata") or {}
        try:
            stated_managed_fields(metadata.get("managedFields") or [])
        except ValueError as error:
            metadata.pop("managedFields")
            if before:
                metadata["managedFields"] = before
            self.warnings.append(f"{BAD_MANAGERS}: {error}")

    async def _run(self, request: AdmissionRequest) -> None:
        if self._handled(request):
            await self.chain.mutate(request)
            await self.chain.validate(request)

    def _handled(self, request: AdmissionRequest) -> bool:
        """Whether any plugin handles the request. Only then its options are filled in."""
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
            # As for authorization, a Namespace counts as in itself.
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
        """The options for an operation: those of a patch become UpdateOptions or CreateOptions. CONNECT has none."""
        if operation == "CONNECT":
            return None
        if operation == "DELETE":
            return self.options
        kept = {name: value for name, value in self.options.items() if name != "force"}
        return {**kept, "kind": f"{operation.capitalize()}Options"}


def _name(wire: Wire | None) -> str:
    return ((wire or {}).get("metadata") or {}).get("name") or ""
