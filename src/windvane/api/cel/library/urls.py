"""URLs and their parts: `url(self.endpoint).getHostname()`."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from windvane.api.cel.cost.limits import room_for
from windvane.api.cel.functions import Functions, member, plain
from windvane.api.cel.types import BOOL, STRING, list_of, map_of, struct
from windvane.api.cel.values import CelError, DictMap, Opaque
from windvane.api.wording import quoted

URL = struct("kubernetes.URL")
_PARAMETER = 200  # bytes, of a list in a map without the text in it
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_IN_HOST = re.compile(r"""[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>"%\x80-\U0010ffff]*""")
_IN_PATH = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@\[\]/%]*")


class URLError(ValueError):
    """A text that is no URL, in Go's words."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"parse {quoted(text)}: {why}")


@dataclass(slots=True, eq=False)
class Url(Opaque):
    """The parts of a URL, as they are written."""

    text: str
    scheme: str
    host: str
    path: str
    query: str
    type_name = "kubernetes.URL"

    def same(self, other: Any) -> bool:
        return bool(self.text == other.text)


def parse_url(text: str) -> Url:
    """A URL that starts with a scheme, or a path from the root."""
    if not text:
        raise URLError(text, "empty url")
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise URLError(text, "net/url: invalid control character in URL")
    if text == "*":
        return Url(text, "", "", "*", "")
    if text.startswith(":"):
        raise URLError(text, "missing protocol scheme")
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    rest = text[found.end() :] if found else text
    rest = rest.partition("#")[0]
    rest, question, query = rest.partition("?")
    if not rest.startswith("/"):
        if not scheme:
            raise URLError(text, "invalid URI for request")
        return Url(text, scheme, "", "", query)  # such as mailto:me
    host, path = "", rest
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        host, slash, path = rest[2:].partition("/")
        path = slash + path
        host = _host(host, text)
    if (bad := _BAD_ESCAPE.search(path)) is not None:
        raise URLError(text, f"invalid URL escape {quoted(bad[0])}")
    return Url(text, scheme, host, path, query if question else "")


def _host(authority: str, text: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and not re.fullmatch(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", user):
        raise URLError(text, "net/url: invalid userinfo")
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise URLError(text, "missing ']' in host")
        port = host[end + 1 :]
    else:
        colon = host.rfind(":")
        port = host[colon:] if colon >= 0 else ""
    if port and not re.fullmatch(":[0-9]*", port):
        raise URLError(text, f"invalid port {quoted(port)} after host")
    fits = _IN_HOST.match(host)
    if fits is None or fits.end() < len(host):
        raise URLError(text, f"invalid character {quoted(host[fits.end() if fits else 0])} in host name")
    if (bad := _BAD_ESCAPE.search(host)) is not None:
        raise URLError(text, f"invalid URL escape {quoted(bad[0])}")
    return host


def _url(text: str) -> Url:
    try:
        return parse_url(text)
    except URLError as error:
        raise CelError(f"URL parse error during conversion from string: {error}") from None


def _is_url(text: str) -> bool:
    try:
        parse_url(text)
    except URLError:
        return False
    return True


def _hostname(url: Url) -> str:
    if url.host.startswith("["):
        return url.host[1 : url.host.rfind("]")]
    return url.host.rpartition(":")[0] if ":" in url.host else url.host


def _port(url: Url) -> str:
    behind = url.host.rpartition("]")[2]
    return behind.rpartition(":")[2] if ":" in behind else ""


def _escaped_path(url: Url) -> str:
    if _IN_PATH.fullmatch(url.path):
        return url.path
    room_for(len(url.path))
    return quote(unquote(url.path), safe="/$&+,:;=@~")


def _query(url: Url) -> DictMap:
    found: dict[str, list[str]] = {}
    room_for(len(url.query))
    for pair in url.query.split("&"):
        room_for(_PARAMETER)
        if not pair or ";" in pair or _BAD_ESCAPE.search(pair):
            continue
        key, _, value = pair.partition("=")
        found.setdefault(unquote(key.replace("+", " ")), []).append(unquote(value.replace("+", " ")))
    return DictMap.of(found)


FUNCTIONS: Functions = {
    "url": (plain("string_to_url", [STRING], URL, _url),),
    "isURL": (plain("is_url_string", [STRING], BOOL, _is_url),),
    "getScheme": (member("url_get_scheme", [URL], STRING, lambda url: url.scheme),),
    "getHost": (member("url_get_host", [URL], STRING, lambda url: url.host),),
    "getHostname": (member("url_get_hostname", [URL], STRING, _hostname),),
    "getPort": (member("url_get_port", [URL], STRING, _port),),
    "getEscapedPath": (member("url_get_escaped_path", [URL], STRING, _escaped_path),),
    "getQuery": (member("url_get_query", [URL], map_of(STRING, list_of(STRING)), _query),),
}
