"""Finds the policies that match a request, each with a binding and its params."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Generic

import msgspec

from windvane.api.json_value import Wire
from windvane.api.status import StatusDetails
from windvane.cluster.apiserver.admission.matcher import REGISTRATION, MatchedVersion, match_version
from windvane.cluster.apiserver.admission.policies.params import (
    ConvertStored,
    Params,
    ParamsError,
    UnknownKind,
    type_of,
)
from windvane.cluster.apiserver.admission.policies.policy_source import Binding, Bound, BoundPolicies, Compiled
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.failure import Failure, failure
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

# Policies never see policies, which must stay repairable, nor reviews, which write nothing.
EXCLUDED = frozenset(
    {
        f"{kind}.{REGISTRATION}"
        for kind in (
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
        )
    }
    | {
        "localsubjectaccessreviews.authorization.k8s.io",
        "selfsubjectaccessreviews.authorization.k8s.io",
        "selfsubjectreviews.authentication.k8s.io",
        "selfsubjectrulesreviews.authorization.k8s.io",
        "subjectaccessreviews.authorization.k8s.io",
        "tokenreviews.authentication.k8s.io",
    }
)


@dataclass(frozen=True, slots=True)
class Invocation(Generic[Compiled]):
    """A policy to evaluate, once for each of its params."""

    policy: Bound[Compiled]
    binding: Binding
    matched: MatchedVersion
    params: list[Wire | None]


@dataclass(frozen=True, slots=True)
class Misconfigured(Generic[Compiled]):
    """A policy, or one of its bindings, that can't be evaluated."""

    policy: Bound[Compiled]
    binding: Binding | None
    problem: str

    @property
    def message(self) -> str:
        """The message of the refusal."""
        return f"failed to configure {'policy' if self.binding is None else 'binding'}: {self.problem}"


class PolicyDispatcher(Generic[Compiled]):
    """Finds the policies of one kind, mutating or validating."""

    def __init__(
        self, policies: BoundPolicies[Compiled], store: Store, catalog: Catalog, convert: ConvertStored
    ) -> None:
        self._policies = policies
        self._store = store
        self._catalog = catalog
        self._params = Params(store, convert)

    def any(self, request: AdmissionRequest) -> bool:
        """Whether any policy could match; mostly there is none."""
        return bool(self._policies.all()) and request.type.kind.resource not in EXCLUDED

    async def about(self, request: AdmissionRequest) -> AsyncIterator[Invocation[Compiled] | Misconfigured[Compiled]]:
        """The policies that match a request."""
        for policy in self._policies.all():
            try:
                matched = match_version(policy.match, request, self._catalog, self._labels_of)
                if matched is None:
                    continue
                params = type_of(policy.spec.get("paramKind"), self._catalog)
            except (Failure, UnknownKind) as problem:
                yield Misconfigured(policy, None, str(problem))
                continue
            for binding in policy.bindings:
                if (found := await self._bound(policy, binding, request, matched, params)) is not None:
                    yield found

    async def _bound(
        self,
        policy: Bound[Compiled],
        binding: Binding,
        request: AdmissionRequest,
        matched: MatchedVersion,
        params: ResourceType | None,
    ) -> Invocation[Compiled] | Misconfigured[Compiled] | None:
        try:
            if binding.match is not None and not match_version(binding.match, request, self._catalog, self._labels_of):
                return None
            found = await self._params.find(params, binding.spec.get("paramRef"), request.namespace)
        except (Failure, ParamsError) as problem:
            return Misconfigured(policy, binding, str(problem))
        return Invocation(policy, binding, matched, found)

    def namespace(self, request: AdmissionRequest) -> Wire | None:
        """The namespace of a request; None for cluster-scoped objects, among them Namespaces."""
        if not request.namespace or request.type.kind.resource == "namespaces":
            return None
        return self._namespace(request.namespace)

    def _labels_of(self, namespace: str) -> Mapping[str, str]:
        return self._namespace(namespace)["metadata"].get("labels") or {}

    def _namespace(self, name: str) -> Wire:
        entry = self._store.get(Key("/namespaces", "", name))
        if entry is None:
            details = StatusDetails(name=name, kind="namespaces")
            raise failure(404, "NotFound", f'namespaces "{name}" not found', details)
        wire: Wire = msgspec.json.decode(entry.value)
        return wire


def name_of(request: AdmissionRequest) -> str:
    """The name of the object in refusals; it may have none yet."""
    return request.name or (called(request.object) if request.object is not None else "Unknown")
