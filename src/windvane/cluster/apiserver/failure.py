"""Errors of requests, in the API server's own words."""

from collections.abc import Sequence

from windvane.api.kind import Kind
from windvane.api.status import APIStatus, StatusCause, StatusDetails


class Failure(Exception):
    """A request is refused; `status` is what the client gets, with `warnings`."""

    def __init__(self, status: APIStatus, headers: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(status.message)
        self.status = status
        self.headers = headers
        self.warnings: list[str] = []


def failure(code: int, reason: str, message: str, details: StatusDetails | None = None) -> Failure:
    """A refusal with these words."""
    return Failure(APIStatus(status="Failure", code=code, reason=reason, message=message, details=details))


def bad_request(message: str) -> Failure:
    """The request makes no sense."""
    return failure(400, "BadRequest", message)


def not_found(kind: Kind, name: str) -> Failure:
    """There is no such object."""
    details = StatusDetails(name=name, group=kind.group, kind=kind.plural)
    return failure(404, "NotFound", f'{kind.resource} "{name}" not found', details)


def no_such_path() -> Failure:
    """The path does not exist."""
    return failure(404, "NotFound", "the server could not find the requested resource", StatusDetails())


def already_exists(kind: Kind, name: str) -> Failure:
    """An object of that name is there already."""
    details = StatusDetails(name=name, group=kind.group, kind=kind.plural)
    return failure(409, "AlreadyExists", f'{kind.resource} "{name}" already exists', details)


def conflict(kind: Kind, name: str, why: str) -> Failure:
    """The object is not as the request expects it."""
    details = StatusDetails(name=name, group=kind.group, kind=kind.plural)
    return failure(409, "Conflict", f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}', details)


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def invalid(kind: Kind, name: str, causes: Sequence[StatusCause]) -> Failure:
    """The object breaks rules; a cause's message has no field in it, and the error's has all of both."""
    qualified = f"{kind.name}.{kind.group}" if kind.group else kind.name
    # Equal messages are shown once, though both count as causes.
    problems = list(dict.fromkeys(f"{c.field}: {c.message}" if c.field else c.message for c in causes))
    listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    details = StatusDetails(name=name, group=kind.group, kind=kind.name, causes=list(causes))
    return failure(422, "Invalid", f'{qualified} "{name}" is invalid: {listed}', details)


def forbidden(kind: Kind, name: str, why: str) -> Failure:
    """The client may not do this, or not now."""
    details = StatusDetails(name=name, group=kind.group, kind=kind.plural)
    about = f'{kind.resource} "{name}"' if name else kind.resource
    return failure(403, "Forbidden", f"{about} is forbidden: {why}", details)


def expired(message: str) -> Failure:
    """The requested revision was compacted."""
    return failure(410, "Expired", message)


def method_not_allowed() -> Failure:
    """The path exists, but does not support the method."""
    message = "the server does not allow this method on the requested resource"
    return failure(405, "MethodNotAllowed", message, StatusDetails())


def method_not_supported(kind: Kind, verb: str) -> Failure:
    """The custom kind or its subresource does not support the verb."""
    message = f'{verb} is not supported on resources of kind "{kind.resource}"'
    return failure(405, "MethodNotAllowed", message, StatusDetails(group=kind.group, kind=kind.plural))


def unsupported_media_type(accepted: Sequence[str]) -> Failure:
    """The media type of the body is not supported."""
    listed = ", ".join(accepted)
    return failure(
        415,
        "UnsupportedMediaType",
        f"the body of the request was in an unknown format - accepted media types include: {listed}",
    )


def not_acceptable(offered: Sequence[str]) -> Failure:
    """No representation that the client accepts is supported."""
    listed = ", ".join(offered)
    return failure(406, "NotAcceptable", f"only the following media types are accepted: {listed}")


def not_available(offered: Sequence[str]) -> Failure:
    """The same in the words of the real server's router, which checks media types first."""
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(offered)}"
    return failure(406, "NotAcceptable", message, StatusDetails())
