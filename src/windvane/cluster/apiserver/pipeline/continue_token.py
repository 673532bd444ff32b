"""Continue tokens: where the next page of a list begins, and at which revision."""

import base64
import binascii
from dataclasses import dataclass

import msgspec

from windvane.cluster.apiserver.encoding.go_json import TRUNCATED, go_json_problem
from windvane.cluster.apiserver.failure import Failure, bad_request

VERSION = "meta.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Continuation:
    """The next page begins after this object, in the state as of `revision`."""

    revision: int
    namespace: str
    name: str


class _Token(msgspec.Struct):
    v: str = ""
    rv: int = 0
    start: str = ""


def write_token(next_page: Continuation, *, one_namespace: bool) -> str:
    """The token, which is opaque to clients."""
    place = f"/{next_page.name}" if one_namespace else f"/{next_page.namespace}/{next_page.name}"
    token = _Token(VERSION, next_page.revision, f"{place}\0")
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def read_token(text: str, namespace: str) -> Continuation:
    """Parse a token; 400 if it is malformed. A forged one gives access to nothing that a list does not."""
    try:
        raw = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _not_valid("illegal base64 data at input byte 0") from error
    try:
        token = msgspec.json.decode(raw, type=_Token)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _not_valid(go_json_problem(raw) or TRUNCATED) from error
    if token.v != VERSION:
        raise _not_valid(f"server does not recognize this encoded version {token.v}")
    if not token.start:
        raise _not_valid(f"encoded start key empty (version {VERSION})")
    if token.rv < 1 and token.rv != -1:
        raise _not_valid(f"incorrect encoded start resourceVersion {token.rv} (version {VERSION})")
    place = token.start.removesuffix("\0").lstrip("/").split("/")
    if ".." in place or len(place) > 2:
        raise _not_valid(token.start)
    return Continuation(token.rv, namespace or ("" if len(place) == 1 else place[0]), place[-1])


def _not_valid(why: str) -> Failure:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
