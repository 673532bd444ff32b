"""Decodes replies of webhooks; errors have the words of Go's client."""

from typing import Any

import msgspec

from windvane.api.wording import quoted
from windvane.cluster.apiserver.encoding.go_yaml import NotYaml, to_json
from windvane.cluster.apiserver.outbound.caller import CallFailed, Reply

SHOWN = 2048
TEXT = "text/"
WORDS = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


def body_of(reply: Reply) -> bytes:
    """The JSON in a reply, which may be YAML; `CallFailed` if it is an error."""
    if not 200 <= reply.code <= 206:
        raise CallFailed(_status_message(reply.body) or _words(reply), reply.code)
    if not reply.body:
        message = f"0-length response with status code: {reply.code} and content type: {reply.content_type}"
        raise CallFailed(message)
    if reply.body.lstrip()[:1] in (b"{", b""):
        return reply.body
    try:
        return to_json(reply.body).body
    except NotYaml as error:
        raise CallFailed(f"couldn't get version/kind; json parse error: {error}") from error


def _status_message(body: bytes) -> str:
    """The message of a `Status`."""
    try:
        status: Any = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return ""
    if not isinstance(status, dict) or (status.get("apiVersion"), status.get("kind")) != ("v1", "Status"):
        return ""
    return str(status.get("message", "")) if status.get("status") != "Success" else ""


def _words(reply: Reply) -> str:
    message = "unknown"
    if reply.content_type.startswith(TEXT):
        message = reply.body[:SHOWN].decode(errors="replace").strip() or message
    if reply.code in (403, 415):
        return message
    if reply.code == 406:
        return "the server was unable to respond with a content type that the client supports"
    if reply.code in WORDS:
        return WORDS[reply.code]
    if reply.code >= 500:
        return f"an error on the server ({quoted(message)}) has prevented the request from succeeding"
    return f"the server responded with the status code {reply.code} but did not return more information"
