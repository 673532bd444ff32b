"""What can go wrong between a client and an API server, as a small family of exceptions.

ClientError
├── Unreachable              no connection: nothing was sent
│   └── Untrusted            the server's certificate is not the expected one
├── CredentialsError         there is nothing to prove with who the client is: a token file or a plugin failed
├── Interrupted              the connection broke before the answer was complete
├── FateUnknown              a write was sent, and no answer came: it may or may not have happened
├── Unreadable               the answer is not what a Kubernetes API server says
└── APIError                 the server answered with an error; `status` is its whole answer
    ├── NotFound, AlreadyExists, Conflict, Invalid, BadRequest, Gone, TooLarge
    ├── Unauthorized, Forbidden
    └── TooManyRequests, ServerTimeout, Unavailable, InternalError
"""

from http import HTTPStatus

import msgspec

from windvane.api import codec
from windvane.api.status import APIStatus, StatusCause


class ClientError(Exception):
    """Any failure of a request."""


class Unreachable(ClientError):
    """The server can't be reached; nothing was sent to it."""


class Untrusted(Unreachable):
    """The server did not prove its identity; trying again will not help."""


class Interrupted(ClientError):
    """The connection broke after the request was sent and before its answer was complete."""


class FateUnknown(ClientError):
    """A write was sent but not answered. Read the object before writing again."""


class Unreadable(ClientError):
    """The other side answered, but not as a Kubernetes API server does."""


class APIError(ClientError):
    """The API server refused or failed the request; the message is its own."""

    def __init__(self, status: APIStatus) -> None:
        super().__init__(status.message or f"{status.code} {status.reason}")
        self.status = status

    @property
    def code(self) -> int:
        """The HTTP status code."""
        return self.status.code

    @property
    def reason(self) -> str:
        """The one-word reason, such as `NotFound`."""
        return self.status.reason

    @property
    def causes(self) -> list[StatusCause]:
        """What is wrong in detail; for Invalid, one for each field."""
        return self.status.details.causes if self.status.details else []


class BadRequest(APIError):
    """The request itself makes no sense (400)."""


class Unauthorized(APIError):
    """The server does not know the client (401)."""


class Forbidden(APIError):
    """The client may not do this (403)."""

    @property
    def namespace_terminating(self) -> bool:
        """Whether that is because the namespace is being deleted: nothing can be made in it, by any client."""
        return any(cause.reason == "NamespaceTerminating" for cause in self.causes)


class NotFound(APIError):
    """There is no such object, or no such kind (404)."""


class AlreadyExists(APIError):
    """An object of that name is there already (409)."""


class Conflict(APIError):
    """The object changed since it was read, or another manager owns the field (409)."""


class Gone(APIError):
    """The requested version or page is too old: list again (410)."""


class TooLarge(APIError):
    """The request is larger than the server takes (413)."""


class Invalid(APIError):
    """The object breaks rules of its kind; `causes` has each field (422)."""


class TooManyRequests(APIError):
    """The server is busy, or a disruption budget allows no eviction now (429)."""


class InternalError(APIError):
    """The server failed (500)."""


class Unavailable(APIError):
    """The server can't serve now (503), or what stands before it has none that can (502)."""


class ServerTimeout(APIError):
    """The server ran out of time (504, or 500 with reason ServerTimeout)."""


BY_REASON: dict[str, type[APIError]] = {
    "AlreadyExists": AlreadyExists,
    "BadRequest": BadRequest,
    "Conflict": Conflict,
    "Expired": Gone,
    "Forbidden": Forbidden,
    "Gone": Gone,
    "InternalError": InternalError,
    "Invalid": Invalid,
    "NotFound": NotFound,
    "RequestEntityTooLarge": TooLarge,
    "ServerTimeout": ServerTimeout,
    "ServiceUnavailable": Unavailable,
    "Timeout": ServerTimeout,
    "TooManyRequests": TooManyRequests,
    "Unauthorized": Unauthorized,
}
BY_CODE: dict[int, type[APIError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    413: TooLarge,
    422: Invalid,
    429: TooManyRequests,
    500: InternalError,
    502: Unavailable,
    503: Unavailable,
    504: ServerTimeout,
}
EXCERPT = 300


class _Said(msgspec.Struct):
    """What an answer says that it is. `APIStatus` can't tell: without a word on it, it is a Status."""

    kind: str = ""


def error_from_status(status: APIStatus) -> APIError:
    """The exception that says what an error `Status` says."""
    return BY_REASON.get(status.reason, BY_CODE.get(status.code, APIError))(status)


def error_from_answer(code: int, body: bytes, request: str) -> APIError:
    """The exception for an answer that is no success. `request` says what was asked, such as `GET /api/v1/pods`.

    A proxy or load balancer in between answers with HTML or plain text; its words are all that a person has to
    find out which one it was, so an excerpt goes into the message.
    """
    words = f"{code} {HTTPStatus(code).phrase}" if code in HTTPStatus._value2member_map_ else str(code)
    answered = f"{request} was answered with {words}"
    status = _read_status(body)
    if status is None:
        status = APIStatus(status="Failure", message=f"{answered}: {_excerpt(body) or '(no body)'}")
    status.code = status.code or code
    status.message = status.message or answered
    return error_from_status(status)


def _read_status(body: bytes) -> APIStatus | None:
    try:
        if codec.decode(body, _Said).kind != "Status":
            return None
        return codec.decode(body, APIStatus)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _excerpt(body: bytes) -> str:
    """The beginning on one line, without characters that could play tricks on a terminal or a log."""
    text = body[: 4 * EXCERPT].decode(errors="replace")
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:EXCERPT]
