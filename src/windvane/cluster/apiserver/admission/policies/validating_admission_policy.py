"""The admission plugin ValidatingAdmissionPolicy: evaluates policies, and carries out their validationActions.

A failed validation refuses the request, warns the client, or is written to the audit log, as the binding says.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from windvane.api.json_value import Wire
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.admission.matcher import MatchedVersion
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.policies.dispatcher import (
    Invocation,
    Misconfigured,
    PolicyDispatcher,
    name_of,
)
from windvane.cluster.apiserver.admission.policies.params import ConvertStored
from windvane.cluster.apiserver.admission.policies.policy_source import Binding, Bound, BoundPolicies
from windvane.cluster.apiserver.admission.policies.verdict import Objection, Verdict
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.failure import Failure, forbidden
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.request.worker_pool import run_costly
from windvane.cluster.apiserver.storage.store import Store

if TYPE_CHECKING:
    from windvane.cluster.apiserver.admission.policies.validating_evaluator import ValidatingPolicy
    from windvane.cluster.apiserver.expressions import Activation

FAILURES = "validation.policy.admission.k8s.io/validation_failure"
LONGEST_ANNOTATION = 10 * 1024
CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413}
"""The status codes of a policy's `reason`; others are 422."""
HARMLESS = str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"})
"""As the real server writes JSON."""


def _compiled(spec: Wire) -> "ValidatingPolicy":
    # The CEL engine takes long to import, and most servers never see a policy.
    from windvane.cluster.apiserver.admission.policies.validating_evaluator import ValidatingPolicy

    return ValidatingPolicy(spec)


class ValidatingAdmissionPolicy(AdmissionPlugin):
    """Evaluates all policies with bindings."""

    name = "ValidatingAdmissionPolicy"

    def __init__(self, store: Store, catalog: Catalog, authorizer: Authorizer, convert: ConvertStored) -> None:
        policies = BoundPolicies(store, "validatingadmissionpolicies", _compiled)
        self._dispatcher = PolicyDispatcher(policies, store, catalog, convert)
        self._authorizer = authorizer

    def handles(self, request: AdmissionRequest) -> bool:
        return self._dispatcher.any(request)

    async def validate(self, request: AdmissionRequest) -> None:
        """Evaluate all policies; raises a `Failure` for the first objection that denies the request."""
        from windvane.cluster.apiserver.admission.activation import activation

        refusals: list[Failure] = []
        known: dict[MatchedVersion, Activation] = {}
        annotations: dict[str, list[str]] = {}
        async for each in self._dispatcher.about(request):
            if isinstance(each, Misconfigured):
                if not each.policy.ignores_errors:
                    refusals.append(_refusal(request, each.policy, each.binding, Objection(each.message)))
                continue
            if each.params and each.matched not in known:
                namespace = self._dispatcher.namespace(request)
                known[each.matched] = await activation(request, each.matched, self._authorizer, namespace=namespace)
            for params in each.params:
                given = replace(known[each.matched], params=params)
                verdict = await run_costly(partial(_judged, each.policy, given), given.object, given.old, params)
                refusing = [*_act_on(verdict, request, each), *verdict.failed_annotations]
                refusals += [_refusal(request, each.policy, each.binding, objection) for objection in refusing]
                for key, value in verdict.annotations:
                    values_of_key = annotations.setdefault(f"{each.policy.name}/{key}", [])
                    if (short := value[:LONGEST_ANNOTATION]) not in values_of_key:
                        values_of_key.append(short)
        request.annotations.update({key: ", ".join(values) for key, values in annotations.items()})
        if refusals:
            raise refusals[0]


def _judged(policy: "Bound[ValidatingPolicy]", given: "Activation") -> Verdict:
    return policy.compiled().judge(given)


def _act_on(
    verdict: Verdict, request: AdmissionRequest, invocation: "Invocation[ValidatingPolicy]"
) -> Iterator[Objection]:
    """Carry out Warn and Audit; returns the objections to deny."""
    policy, binding = invocation.policy, invocation.binding
    for objection in verdict.objections:
        for action in binding.spec.get("validationActions") or ():
            if action == "Deny":
                yield objection
            elif action == "Warn":
                policy_name = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}'"
                request.warnings.append(f"Validation failed for {policy_name}: {objection.message}")
            elif action == "Audit":
                request.annotations.setdefault(FAILURES, _audit_annotation(binding, objection))


def _audit_annotation(binding: Binding, objection: Objection) -> str:
    failed = {
        "message": objection.message,
        "policy": binding.spec.get("policyName", ""),
        "binding": binding.name,
        "expressionIndex": objection.validation,
        "validationActions": binding.spec.get("validationActions"),
    }
    return msgspec.json.encode([failed]).decode().translate(HARMLESS)


def _refusal(
    request: AdmissionRequest, policy: "Bound[ValidatingPolicy]", binding: Binding | None, objection: Objection
) -> Failure:
    with_binding = f" with binding '{binding.name}'" if binding is not None else ""
    message = f"ValidatingAdmissionPolicy '{policy.name}'{with_binding} denied request: {objection.message}"
    refusal = forbidden(request.type.kind, name_of(request), message)
    status = refusal.status
    status.reason = objection.reason or "Invalid"
    status.code = CODES.get(status.reason, 422)
    if status.details is not None:
        status.details.causes.append(StatusCause(message=message))
    return refusal
