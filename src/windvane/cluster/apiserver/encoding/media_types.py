"""Headers of a request, and the media type of its body."""

from windvane.client.transport import Request

PROTOBUF = "application/vnd.kubernetes.protobuf"


def header(request: Request, name: str) -> str:
    """A header's value; empty if it is absent. Names are matched without regard to case."""
    lowered = name.lower()
    return next((value for key, value in request.headers.items() if key.lower() == lowered), "")


def media_type_of_body(request: Request) -> str:
    """The media type of the body, without its parameters; JSON if it isn't said."""
    return header(request, "Content-Type").partition(";")[0].strip().lower() or "application/json"
