"""One AdmissionReview: what the API server asks before it stores an object, and what is answered.

Nothing that is in a review, and nothing that a function does, ends in anything but an answer: what can't be read and
what fails is denied, in a few words to the user; the log has the rest.
"""

import logging
import re
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

from windvane.api import codec
from windvane.api.envelope import Envelope
from windvane.api.lenient import read_leniently
from windvane.api.resource import Object, object_to_wire, read_object
from windvane.api.status import APIStatus
from windvane.api.struct import Struct
from windvane.k8s.authentication import UserInfo
from windvane.runtime.admission import AdmissionHook, AdmissionRequest, Denied, Operation
from windvane.webhook.author_call import call, called, without_details
from windvane.webhook.denial import ReviewRefused, asked_wrongly, denied, failed, too_deep, unreadable
from windvane.webhook.json_patch import Patch, patch_of

log = logging.getLogger(__name__)

VERSIONS = ("admission.k8s.io/v1", "admission.k8s.io/v1beta1")

NULL = msgspec.Raw(b"null")
REACHED = "the webhook server of the operator was reached"
OPERATIONS: dict[str, Operation] = {"CREATE": "create", "UPDATE": "update", "DELETE": "delete"}


class BadReview(Exception):
    """What came is no review, so that it can't be answered as one; the message says what is wrong with it."""


class TooDeep(BadReview):
    """It is nested so deeply that it can't be read."""


class _Resource(Struct):
    group: str = ""
    version: str = ""
    resource: str = ""

    def __str__(self) -> str:
        return f"{self.resource}.{self.version}.{self.group}".rstrip(".")


class _Request(Struct):
    uid: str
    resource: _Resource
    operation: Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
    sub_resource: str | None = None
    name: str | None = None
    namespace: str | None = None
    user_info: UserInfo | None = None
    object: msgspec.Raw = NULL
    old_object: msgspec.Raw = NULL
    dry_run: bool | None = None


class _Review(Struct):
    api_version: str
    kind: Literal["AdmissionReview"]
    request: _Request | None = None


_decoder = msgspec.json.Decoder(_Review)
LONGEST_BEGINNING = 4096
_BEGINNING = re.compile(
    rb'"apiVersion": ?"([a-z0-9./]+)", ?"request": ?{"uid": ?"([\w-]+)".*?'
    rb'"operation": ?"(CREATE|UPDATE|DELETE|CONNECT)"',
    re.DOTALL,
)


Work: TypeAlias = Callable[[_Request, AdmissionHook, list[str]], Awaitable[Patch]]
"""What is done about a request; `ReviewRefused`, if it is to be denied."""


@dataclass(frozen=True)
class ReviewAnswer:
    """What to send back, and what it says."""

    body: bytes
    operation: str
    """As the API server spells it: `CREATE`."""
    allowed: bool


async def default_review(body: bytes, hook: AdmissionHook) -> ReviewAnswer:
    """Have the function of `@operator.default` fill in the object of a review."""
    return await _answered(body, hook, _fill_in)


async def validate_review(body: bytes, hook: AdmissionHook) -> ReviewAnswer:
    """Have the function of `@operator.validate` judge the object of a review."""
    return await _answered(body, hook, _judge)


async def probe_review(body: bytes) -> ReviewAnswer:
    """Tell the client, by a refusal, that this server was reached."""
    review, request = _read(body)
    status = APIStatus(status="Failure", message=REACHED, reason="Forbidden", code=403)
    return _denied(review, request, [], status)


async def _answered(body: bytes, hook: AdmissionHook, work: Work) -> ReviewAnswer:
    """What `work` makes of a review, or a denial.

    Never anything else, once it is a review: for the API server, that would be a webhook that is down, and with
    `failure_policy="Ignore"` it would store what was not judged.
    """
    try:
        review, request = _read(body)
    except TooDeep as error:
        review, request = _beginning(body, error)
        return _denied(review, request, [], too_deep().status)
    warnings: list[str] = []
    try:
        try:
            return _allowed(review, request, warnings, await work(request, hook, warnings))
        except ReviewRefused as refused:
            return _denied(review, request, warnings, refused.status)
    except Exception as error:
        log.exception("%s %s could not be answered", hook.kind.name, _place(request))
        return _denied(review, request, [], failed(without_details(called(hook), type(error).__name__)).status)


async def _fill_in(request: _Request, hook: AdmissionHook, warnings: list[str]) -> Patch:
    asked = _asked(request, hook, warnings)
    if asked is None or _is_leaving_unread(request, hook, warnings):
        return []
    before, after = (_decode(request, request.object, hook) for _ in range(2))
    if not await _call(hook, request, after, asked):
        return []
    patch = patch_of(msgspec.json.decode(request.object), before, after)
    if patch:
        _check_fits(hook, request, after)
    return patch


async def _judge(request: _Request, hook: AdmissionHook, warnings: list[str]) -> Patch:
    asked = _asked(request, hook, warnings)
    if asked is None or _is_leaving_unread(request, hook, warnings):
        return []
    if asked.operation == "delete":
        judged = _decode_as_it_is(request, request.old_object, hook)
    else:
        judged = _decode(request, request.object, hook)
    await _call(hook, request, judged, asked)
    return []


def _is_leaving_unread(request: _Request, hook: AdmissionHook, warnings: list[str]) -> bool:
    """Whether this is an update of an object that is being deleted, and that the class can't read.

    It must be possible to delete it: its finalizers are taken off by updates, each of which would be refused here.
    """
    if request.operation != "UPDATE" or not _is_being_deleted(request.object):
        return False
    try:
        read_object(bytes(request.object), hook.what)
    except Exception as error:  # noqa: BLE001 - what a class raises in its __post_init__ may be anything
        warnings.append(f"it can't be read and was not looked at, because it is being deleted: {codec.in_words(error)}")
        return True
    return False


def _is_being_deleted(raw: msgspec.Raw) -> bool:
    return msgspec.json.decode(raw, type=Envelope).metadata.deletion_timestamp is not None


def _read(body: bytes) -> tuple[_Review, _Request]:
    try:
        review = _decoder.decode(body)
    except RecursionError as error:
        raise TooDeep(f"this is no AdmissionReview: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReview(f"this is no AdmissionReview: {error}") from error
    if review.api_version not in VERSIONS:
        raise BadReview(f"the version {review.api_version!r} is not known here; known are {', '.join(VERSIONS)}")
    if review.request is None:
        raise BadReview("this AdmissionReview has no request in it")
    return review, review.request


def _beginning(body: bytes, error: TooDeep) -> tuple[_Review, _Request]:
    """As much of a review as it takes to deny it, where the object in it is nested too deeply to be read.

    API servers take objects of thousands of levels, and say first which request it is.
    """
    found = _BEGINNING.search(body, 0, LONGEST_BEGINNING)
    if found is None or found[1].decode() not in VERSIONS:
        raise error
    version, uid, operation = (each.decode() for each in found.groups())
    request = msgspec.convert({"uid": uid, "resource": {}, "operation": operation}, _Request)
    return _Review(api_version=version, kind="AdmissionReview", request=request), request


def _asked(request: _Request, hook: AdmissionHook, warnings: list[str]) -> AdmissionRequest[Any] | None:
    """What the function is told of a request; None if it is none of those that it was declared for."""
    kind, there = hook.kind, request.resource
    if (there.group, there.version, there.resource) != (kind.group, kind.version, kind.plural):
        ours = _Resource(group=kind.group, version=kind.version, resource=kind.plural)
        raise asked_wrongly(f"this webhook is for {ours}, and was asked about {there}: correct its configuration")
    operation = OPERATIONS.get(request.operation)
    if operation not in hook.operations or (request.sub_resource or "") not in ("", *hook.subresources):
        return None
    has_old = operation != "create"
    if operation != "delete" and request.object == NULL:
        raise asked_wrongly(f"the API server sent no object with this {request.operation}")
    if has_old and request.old_object == NULL:
        # A function that compares with the old object must not be led to believe that there is none.
        raise asked_wrongly(f"the API server sent no oldObject with this {request.operation}")
    asked: AdmissionRequest[Any] = AdmissionRequest(
        operation,
        old=(lambda: _decode_as_it_is(request, request.old_object, hook)) if has_old else None,
        user=request.user_info,
        dry_run=bool(request.dry_run),
        namespace=request.namespace or "",
        name=request.name or "",
        subresource=request.sub_resource or "",
    )
    asked.warnings = warnings  # the same list: they are told even if the function fails
    return asked


def _decode(request: _Request, raw: msgspec.Raw, hook: AdmissionHook) -> Object:
    try:
        return read_object(bytes(raw), hook.what)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise unreadable(error, hook.kind, _name(request)) from error


def _decode_as_it_is(request: _Request, raw: msgspec.Raw, hook: AdmissionHook) -> Object:
    """What is stored already, and can't be written otherwise now: a field that can't be read is plain JSON."""
    try:
        return _decode(request, raw, hook)
    except ReviewRefused:
        with suppress(RecursionError):
            return read_leniently(bytes(raw), hook.what)[0]
        raise


def _check_fits(hook: AdmissionHook, request: _Request, after: Object) -> None:
    """What a function made of an object must still be one: else users are told of a mistake that is not theirs."""
    try:
        read_object(codec.encode(object_to_wire(after)), hook.what)
    except (msgspec.DecodeError, ValueError) as error:
        log.error(
            "%s left %s %s as no %s can be: %s",
            called(hook),
            hook.kind.name,
            _place(request),
            hook.what.__name__,
            error,
        )
        raise failed(f"{called(hook)} filled it in wrongly; the log of the operator says more") from error


def _name(request: _Request) -> str:
    """The name of the object; what it will begin with, if the API server has yet to make it up."""
    if request.name:
        return request.name
    try:
        metadata = msgspec.json.decode(request.object)["metadata"]
        return str(metadata.get("name") or metadata.get("generateName") or "")
    except (msgspec.DecodeError, AttributeError, KeyError, TypeError, RecursionError):
        return ""


async def _call(hook: AdmissionHook, request: _Request, thing: Object, asked: AdmissionRequest[Any]) -> bool:
    """Whether the function came to an end; Refused, if it is not to be."""
    try:
        return await call(hook, thing, asked, f"{hook.kind.name} {_place(request)}")
    except Denied as error:
        raise denied(error, hook.kind, _name(request), _wire(request, asked)) from error


def _place(request: _Request) -> str:
    return f"{request.namespace}/{_name(request)}" if request.namespace else _name(request)


def _wire(request: _Request, asked: AdmissionRequest[Any]) -> Any:
    return msgspec.json.decode(request.old_object if asked.operation == "delete" else request.object)


def _allowed(review: _Review, request: _Request, warnings: list[str], patch: Patch | None = None) -> ReviewAnswer:
    response: dict[str, Any] = {"uid": request.uid, "allowed": True}
    if patch:
        response |= {"patchType": "JSONPatch", "patch": b64encode(codec.encode(patch)).decode()}
    return _answer(review, request, response, warnings)


def _denied(review: _Review, request: _Request, warnings: list[str], status: APIStatus) -> ReviewAnswer:
    return _answer(review, request, {"uid": request.uid, "allowed": False, "status": codec.to_wire(status)}, warnings)


def _answer(review: _Review, request: _Request, response: dict[str, Any], warnings: list[str]) -> ReviewAnswer:
    if warnings:
        response["warnings"] = warnings
    answer = {"apiVersion": review.api_version, "kind": review.kind, "response": response}
    return ReviewAnswer(codec.encode(answer), request.operation, response["allowed"])
