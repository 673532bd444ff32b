"""Calls one webhook about one request, and follows its failurePolicy if that fails."""

import logging
from typing import Literal

import msgspec

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.conversion import converted
from windvane.cluster.apiserver.admission.matcher import MatchedVersion
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.webhooks import metrics
from windvane.cluster.apiserver.admission.webhooks.configuration import Webhook
from windvane.cluster.apiserver.admission.webhooks.errors import FailedCall, denial, internal_error
from windvane.cluster.apiserver.admission.webhooks.metrics import WebhookMetrics
from windvane.cluster.apiserver.admission.webhooks.patch import JSON_PATCH, Operations, operations_of
from windvane.cluster.apiserver.admission.webhooks.review import (
    GROUP,
    KNOWN_VERSIONS,
    REVIEW,
    AdmissionResponse,
    InvalidResponse,
    UnreadableReview,
    admission_request,
    check_response,
    read,
)
from windvane.cluster.apiserver.failure import Failure, bad_request
from windvane.cluster.apiserver.outbound.caller import Caller, CallFailed, InvalidClientConfig
from windvane.cluster.apiserver.outbound.replies import body_of
from windvane.cluster.apiserver.request.deadline import remaining, timed_out

log = logging.getLogger(__name__)

Type = Literal["admit", "validating"]
"""What metrics call the two kinds of webhooks."""
WITHOUT_SIDE_EFFECTS = ("None", "NoneOnDryRun")
FAILED_OPEN = {
    "admit": "failed-open.mutation.webhook.admission.k8s.io/",
    "validating": "failed-open.validating.webhook.admission.k8s.io/",
}


class WebhookInvoker:
    """Calls webhooks, and counts the results."""

    def __init__(self, caller: Caller, counts: WebhookMetrics) -> None:
        self._caller = caller
        self._counts = counts

    async def ask(
        self, webhook: Webhook, request: AdmissionRequest, type_: Type, place: str, matched: MatchedVersion
    ) -> Operations:
        """The webhook's patch; a `Failure` if it denies the request.

        `place` is the key suffix of audit annotations.
        """
        counted = (webhook.name, type_, request.operation)
        began = ambient.monotonic()
        code, rejected, error = 200, False, metrics.NONE
        try:
            return await self._operations(webhook, request, type_, matched)
        except FailedCall as failed:
            code, error = failed.code, metrics.CALLING
            rejected = not webhook.ignores_failures
            if not remaining():  # the request has timed out
                raise timed_out() from failed
            if rejected:
                raise internal_error(str(failed)) from failed
            log.warning("%s; going on without it", failed)
            self._counts.count_failed_open(webhook.name, type_)
            request.annotations[f"{FAILED_OPEN[type_]}{place}"] = webhook.name
            return []
        except Failure as refusal:
            rejected, code = True, refusal.status.code
            raise
        finally:
            if rejected:
                self._counts.count_rejection(counted, error, code)
            self._counts.count_call(counted, ambient.monotonic() - began, code, rejected=rejected)

    async def _operations(
        self, webhook: Webhook, request: AdmissionRequest, type_: Type, matched: MatchedVersion
    ) -> Operations:
        """The same; `FailedCall` if the call fails."""
        if request.dry_run and webhook.stated.side_effects not in WITHOUT_SIDE_EFFECTS:
            raise bad_request(f"admission webhook {quoted(webhook.name)} does not support dry run")
        response = await self._answer(webhook, request, type_, matched)
        for key, value in response.audit_annotations.items():
            if not label_key_problems(qualified := f"{webhook.name}/{key}"):
                request.annotations.setdefault(qualified, value)  # the first annotation of a key stays
        request.warnings.extend(response.warnings)
        if not response.allowed:
            raise denial(webhook.name, response.status)
        if not response.patch:
            return []
        operations = operations_of(webhook.name, response.patch)
        if operations and request.object is None:
            message = "attempted to modify the object, which is not supported for this operation"
            raise internal_error(f"admission webhook {quoted(webhook.name)} {message}")
        if operations and response.patch_type != JSON_PATCH:
            raise FailedCall(webhook.name, f"unsupported patch type {quoted(response.patch_type or '')}", 400)
        return operations

    async def _answer(
        self, webhook: Webhook, request: AdmissionRequest, type_: Type, matched: MatchedVersion
    ) -> AdmissionResponse:
        stated = webhook.stated
        version = next((each for each in stated.admission_review_versions if each in KNOWN_VERSIONS), "")
        if not version:
            message = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
            raise FailedCall(webhook.name, f"could not create admission objects: {message}", 400)
        uid = ambient.uid()
        try:
            new = await in_version(request, request.object, matched)
            old = await in_version(request, request.old, matched)
        except Failure as problem:
            # A real server repeats the prefix for mutating webhooks.
            again = "Internal error occurred: " if type_ == "admit" else ""
            raise internal_error(f"{again}{problem}") from problem
        review = {
            "kind": REVIEW,
            "apiVersion": f"{GROUP}/{version}",
            "request": admission_request(request, matched, new, old, uid),
        }
        try:
            if not (seconds := min(stated.timeout_seconds, remaining())):
                raise timed_out()
            reply = await self._caller.post(stated.client_config, msgspec.json.encode(review), seconds)
            answered = read(body_of(reply), version)
        except InvalidClientConfig as error:
            raise FailedCall(webhook.name, f"could not get REST client: {error}", 500) from error
        except CallFailed as error:
            raise FailedCall(webhook.name, f"failed to call webhook: {error}", error.code) from error
        except UnreadableReview as error:
            raise FailedCall(webhook.name, f"failed to call webhook: {error}") from error
        try:
            return check_response(answered, version, uid, mutating=type_ == "admit")
        except InvalidResponse as error:
            raise FailedCall(webhook.name, f"received invalid webhook response: {error}") from error


async def in_version(request: AdmissionRequest, wire: Wire | None, matched: MatchedVersion) -> Wire | None:
    """An object of the request in the matched version."""
    if wire is None or not is_whole(matched):
        return wire
    return await converted(request.type, wire, matched.type)


def is_whole(matched: MatchedVersion) -> bool:
    """Whether the request has the object itself, and not the kind of a subresource, such as a Scale."""
    return (matched.api_version, matched.kind) == (matched.type.kind.api_version, matched.type.kind.name)
