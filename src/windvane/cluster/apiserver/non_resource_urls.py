"""Non-resource URLs: health, version, discovery, OpenAPI and metrics."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha512
from typing import TYPE_CHECKING

import msgspec

from windvane.client.transport import Request
from windvane.cluster.apiserver import discovery, health
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.encoding.accept import OFFERED, MediaTypeOptions, check_route, negotiate_plain, write
from windvane.cluster.apiserver.encoding.media_types import header
from windvane.cluster.apiserver.failure import method_not_allowed
from windvane.cluster.apiserver.metrics import Metrics
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.version import version

if TYPE_CHECKING:
    from windvane.cluster.apiserver.openapi.documents import OpenAPI

FOR_PEOPLE = MediaTypeOptions(pretty=True)
PLACES = (
    "/.well-known/openid-configuration", "/apis/", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/",
    "/openid/v1/jwks", "/version",
)  # fmt: skip


class NonResourceURLs:
    """Answers the non-resource URLs of one server."""

    def __init__(self, catalog: Catalog, metrics: Metrics, checks: Mapping[str, health.Check]) -> None:
        self._catalog = catalog
        self._metrics = metrics
        self._checks = checks

    @cached_property
    def _openapi(self) -> "OpenAPI":
        """Made for the first request, so that the server starts sooner."""
        from windvane.cluster.apiserver.openapi.documents import OpenAPI

        return OpenAPI(self._catalog)

    def answer(self, request: Request) -> Answer | None:
        """The document at the path, or a 304 if the client has it already; None if there is none at that path."""
        answer = self._find(request)
        return _unless_known(answer, request) if answer is not None else None

    def _find(self, request: Request) -> Answer | None:
        path = request.path
        if (answer := health.answer(path, request.query, self._checks)) is not None:
            return answer
        match path:
            case "/" | "/index.html":
                return Answer(body=write({"paths": self._paths()}, FOR_PEOPLE))
            case "/metrics":
                return self._metrics.answer()
            case "/version" | "/version/":
                _check_routed(request, ("application/json",))
                return Answer(body=write(version(), FOR_PEOPLE))
        if path.startswith("/openapi/"):
            return self._openapi.answer(path, request.query, header(request, "Accept"))
        return self._discovery(request)

    def _discovery(self, request: Request) -> Answer | None:
        accept, address = header(request, "Accept"), header(request, "Host") or "127.0.0.1"
        found = discovery.document(self._catalog, request.path, accept, address=address)
        if found is None:
            return None
        if discovery.is_routed(self._catalog, request.path):
            _check_routed(request, OFFERED)
        if discovery.content_type(found) == discovery.AGGREGATED:
            return _aggregated(found, discovery.aggregated_in(accept) or "application/json")
        options = negotiate_plain(request)
        return Answer(body=write(found, options), content_type=options.media_type)

    def _paths(self) -> Sequence[str]:
        """The paths that `/` lists."""
        endpoints = [f"/{endpoint}" for endpoint in health.ENDPOINTS]
        checks = [f"{endpoint}/{check}" for endpoint in endpoints for check in self._checks]
        return sorted((*PLACES, *endpoints, *checks, *discovery.paths(self._catalog)))


def _aggregated(found: discovery.Document, media_type: str) -> Answer:
    etag = sha512(msgspec.json.encode(found)).hexdigest().upper()
    # The client may cache it, but must revalidate it by its ETag.
    headers = [("Cache-Control", "public"), ("Etag", f'"{etag}"'), ("Vary", "Accept")]
    label = discovery.AGGREGATED.replace("application/json", media_type)
    return Answer(body=write(found, MediaTypeOptions(media_type)), content_type=label, headers=headers)


def _check_routed(request: Request, offered: Sequence[str]) -> None:
    """Most documents are sent whatever the method; a few are behind the real server's router."""
    if request.method != "GET":
        raise method_not_allowed()
    check_route(request, offered)


def _unless_known(answer: Answer, request: Request) -> Answer:
    etag = next((value for key, value in answer.headers if key == "Etag"), "")
    known = {each.strip().removeprefix("W/") for each in header(request, "If-None-Match").split(",")}
    if answer.code != 200 or not etag or known.isdisjoint({etag, "*"}):
        return answer
    return Answer(304, content_type="", headers=answer.headers)
