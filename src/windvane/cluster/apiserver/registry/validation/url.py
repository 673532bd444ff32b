"""URLs as Go reads them, and what it says about those that it can't read."""

import re
from typing import NamedTuple
from urllib.parse import unquote

from windvane.api.wording import quoted

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):(.*)", re.DOTALL)
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}", re.DOTALL)
_NOT_IN_HOST = re.compile(r'[ "<>\\^`{|}/?#]')
_PORT = re.compile(r":[0-9]*")


class BadURL(ValueError):
    """The text is no URL; the message is Go's."""


class GoURL(NamedTuple):
    """The parts of a URL; each is empty if it is not there."""

    scheme: str
    user: str
    host: str
    query: str
    fragment: str


def parse(text: str) -> GoURL:
    """The parts of a URL, or `BadURL`."""
    before, _, fragment = text.partition("#")
    try:
        return _parse(before, fragment)
    except BadURL as error:
        raise BadURL(f"parse {quoted(text)}: {error}") from None


def _parse(text: str, fragment: str) -> GoURL:
    if any(character < " " or character == "\x7f" for character in text):
        raise BadURL("net/url: invalid control character in URL")
    if text.startswith(":"):
        raise BadURL("missing protocol scheme")
    scheme, rest = "", text
    if (found := _SCHEME.fullmatch(text)) is not None:
        scheme, rest = found[1].lower(), found[2]
    rest, _, query = rest.partition("?")
    user = host = ""
    if not scheme and not rest.startswith("/") and ":" in rest.partition("/")[0]:
        raise BadURL("first path segment in URL cannot contain colon")
    path = rest
    if rest.startswith("//") and not (not scheme and rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
        user, at, host = authority.rpartition("@")
        _check_host(host)
        user = unquote(user) if at else ""
    if (bad := _BAD_ESCAPE.search(path)) is not None:
        raise BadURL(f"invalid URL escape {quoted(bad[0])}")
    return GoURL(scheme, user, host, query, fragment)


def _check_host(host: str) -> None:
    port = ""
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise BadURL("missing ']' in host")
        port = host[end + 1 :]
    elif ":" in host:
        port = host[host.rindex(":") :]
    if port and not _PORT.fullmatch(port):
        raise BadURL(f"invalid port {quoted(port)} after host")
    if (bad := _BAD_ESCAPE.search(host)) is not None:
        raise BadURL(f"invalid URL escape {quoted(bad[0])}")
    if (bad := _NOT_IN_HOST.search(host)) is not None:
        raise BadURL(f"invalid character {quoted(bad[0])} in host name")
