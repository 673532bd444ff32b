"""The filters around the server that every request passes, whether it comes over HTTPS or by a function call.

Unsafe paths and bodies that are too large are refused before the server sees them. Exceptions inside of it become
answers, so a transport handles none.
"""

import logging
import re
from urllib.parse import unquote_to_bytes

from windvane.api import codec
from windvane.api.status import APIStatus, StatusCause, StatusDetails
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, Handler, User
from windvane.cluster.apiserver.failure import Failure, bad_request, failure

log = logging.getLogger(__name__)

BODY_LIMIT = 3 * 1024 * 1024
BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


async def enter(handler: Handler, request: Request, user: User) -> Answer:
    """Answer `request`; this never raises."""
    try:
        check_path(request.path)
        check_size(len(request.body or b""))
        answer = await handler(request, user)
    except Failure as refused:
        return refusal(refused)
    except Exception as error:
        log.exception("%s failed: this is a bug in windvane", request)
        return refusal(internal_error(error))
    if request.method == "HEAD" and answer.stream is not None:
        await answer.stream.aclose()
        answer.stream = None
    return answer


def refusal(failed: Failure) -> Answer:
    """A failure as the client gets it."""
    return Answer(failed.status.code, codec.encode(failed.status) + b"\n")


def check_path(path: str) -> None:
    """Raise a `Failure` if `path`, still escaped, is unsafe: no name has a slash, a dot alone or a NUL.

    The server splits the path at its slashes and then unescapes it, once. A path that another program could read
    differently, because it unescapes first or twice, is refused.
    """
    if not path.startswith("/"):
        raise bad_request(f"the path {path[:100]!r} does not begin with a slash")
    if path.isascii() and "%" not in path:
        plain = path
    else:
        if not path.isascii() or BROKEN_ESCAPE.search(path):
            raise bad_request("the path has an escape that is not % and two hexadecimal digits, or bytes without one")
        try:
            plain = unquote_to_bytes(path).decode()
        except UnicodeDecodeError:
            raise bad_request("the path is not UTF-8 once its escapes are taken off") from None
        if plain.count("/") != path.count("/"):
            raise bad_request("the path has an escaped slash (%2F): no name in Kubernetes has one")
    if "\\" in plain or not plain.isprintable():
        raise bad_request("the path has a backslash or a control character: no name in Kubernetes has one")
    if "//" in plain:
        raise bad_request("the path has an empty segment (//): is a namespace or a name missing?")
    if "/." in plain and not {".", ".."}.isdisjoint(plain.split("/")):
        raise bad_request("the path has a segment that is . or .., which is no name")


def check_size(size: int) -> None:
    """Raise a `Failure` if a body is larger than the server takes."""
    if size > BODY_LIMIT:
        raise failure(413, "RequestEntityTooLarge", f"Request entity too large: limit is {BODY_LIMIT}")


def internal_error(error: Exception) -> Failure:
    """The server's own failure, in the API server's words."""
    words = str(error) or type(error).__name__
    details = StatusDetails(causes=[StatusCause(message=words)])
    message = f"Internal error occurred: {words}"
    return Failure(APIStatus(status="Failure", code=500, reason="InternalError", message=message, details=details))
