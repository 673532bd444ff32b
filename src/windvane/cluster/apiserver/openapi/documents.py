"""The OpenAPI documents: what every kind looks like, for `kubectl explain` and for clients that check or generate.

`/openapi/v3` is an index; each version of each group has a document of its own, made when first asked for, and so has
each document about the API itself. The index names each together with a hash of what it is made from, so that clients
can keep documents for good, and see at once when a CRD has changed one. `/openapi/v2` is everything in one document, in
the older Swagger 2, as JSON or as protobuf.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from email.utils import format_datetime
from hashlib import sha512
from typing import Any

import msgspec

import windvane
from windvane import ambient
from windvane.api.custom_resources.schema import Schema
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.discovery import groups_of, types_of, versions_of
from windvane.cluster.apiserver.encoding.accept import clauses
from windvane.cluster.apiserver.openapi import discovery as about_documents
from windvane.cluster.apiserver.openapi import paths as openapi_paths
from windvane.cluster.apiserver.openapi.definitions import COMPONENTS, definitions
from windvane.cluster.apiserver.openapi.protobuf import write_document
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.version import GIT_VERSION, MAJOR, MINOR

INFO = {"title": "Kubernetes", "version": f"{MAJOR}.{MINOR}"}
BEARER = {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}}
KEPT_FOR = timedelta(days=365)
RELEASE = (GIT_VERSION, windvane.__version__)
JSON = "application/json"
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
# What a document can be had as, by what one may call it.
MEDIA_TYPES_V3 = {"*/*": JSON, "application/*": JSON, JSON: JSON}
MEDIA_TYPES_V2 = {**MEDIA_TYPES_V3, PROTOBUF: PROTOBUF, PROTOBUF.replace("v2.v1", "v2@v1"): PROTOBUF}

# Keywords that Swagger 2 doesn't have, or that mean something else there.
NOT_IN_V2 = frozenset({"default", "nullable", "oneOf", "anyOf", "not", "x-kubernetes-validations"})


class OpenAPI:
    """The documents about one catalog. What was made is kept for as long as it is true."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._generation = -1
        self._pages: dict[str, about_documents.Page] = {}  # by the path of the document about it
        self._hashes: dict[str, str] = {}  # of each document of v3, by its path
        self._made: dict[str, tuple[str, bytes]] = {}  # hash and document, by path

    def answer(self, path: str, query: Sequence[tuple[str, str]], accept: str) -> Answer | None:
        """The answer to GET `path`; None if there is nothing at that path."""
        self._look_at_catalog()
        place = path.removeprefix("/openapi/")
        if place == "v3":
            return Answer(body=msgspec.json.encode(self._index()), content_type="text/plain; charset=utf-8")
        if place != "v2" and place.removeprefix("v3/") not in self._hashes:
            return None
        offered = MEDIA_TYPES_V2 if place == "v2" else MEDIA_TYPES_V3
        requested = [clause.media_type for clause in clauses(accept or JSON) if clause.media_type in offered]
        if not requested:
            return Answer(406)
        if place == "v2":
            return self._version_2(offered[requested[0]])
        return self._version_3(place.removeprefix("v3/"), dict(query).get("hash"))

    def _version_2(self, media_type: str) -> Answer:
        current = _hash(self._hashes)
        answer = _document(self._cached("v2", current), current)
        if media_type == PROTOBUF:
            made_from, answer.body = self._made.get(PROTOBUF, ("", b""))
            if made_from != current:
                answer.body = write_document(msgspec.json.decode(self._cached("v2", current)))
                self._made[PROTOBUF] = current, answer.body
            answer.content_type = PROTOBUF
        return answer

    def _version_3(self, place: str, requested: str | None) -> Answer:
        current = self._hashes[place]
        if requested is not None and requested != current:
            # A request for an outdated document is redirected to the current one.
            return Answer(301, headers=[("Location", _address(place, current))])
        answer = _document(self._cached(place, current), current)
        if requested is not None:
            expires = format_datetime(ambient.now() + KEPT_FOR, usegmt=True)
            answer.headers = [*answer.headers, ("Cache-Control", "public, immutable"), ("Expires", expires)]
        return answer

    def _look_at_catalog(self) -> None:
        if self._generation == self._catalog.generation:
            return
        self._generation = self._catalog.generation
        self._hashes = {
            _place(group, version): _fingerprint(types_of(self._catalog, group, version))
            for group in groups_of(self._catalog)
            for version in versions_of(self._catalog, group)
        }
        self._pages = dict(about_documents.pages(self._catalog))
        self._hashes |= {place: _hash([*RELEASE, page]) for place, page in self._pages.items()}
        self._made = {place: made for place, made in self._made.items() if place in self._hashes}

    def _index(self) -> dict[str, Any]:
        paths = {place: {"serverRelativeURL": _address(place, self._hashes[place])} for place in sorted(self._hashes)}
        return {"paths": paths}

    def _cached(self, place: str, current: str) -> bytes:
        """The document, made now if the one that was made before has become untrue."""
        made_from, document = self._made.get(place, ("", b""))
        if made_from != current:
            document = msgspec.json.encode(self._make(place))
            self._made[place] = current, document
        return document

    def _make(self, place: str) -> dict[str, Any]:
        if place == "v2":
            return document_v2(self._catalog.types[key] for key in sorted(self._catalog.types))
        if (page := self._pages.get(place)) is not None:
            return _in_v3(about_documents.paths(page), about_documents.definitions(page))
        _, *group, version = place.split("/")
        return document_v3(types_of(self._catalog, group[0] if group else "", version))


def document_v3(types: Iterable[ResourceType]) -> dict[str, Any]:
    """One version of a group, in OpenAPI 3."""
    served = list(types)
    found = definitions(served, openapi_paths.subresource_kinds(served))
    return _in_v3(openapi_paths.v3(openapi_paths.operations(served)), found)


def _in_v3(paths: dict[str, Any], schemas: dict[str, Schema]) -> dict[str, Any]:
    components = {"schemas": schemas, "securitySchemes": BEARER}
    return {"openapi": "3.0.0", "info": INFO, "paths": paths, "components": components}


def document_v2(types: Iterable[ResourceType]) -> dict[str, Any]:
    """All that is served, in Swagger 2."""
    served = list(types)
    found = definitions(served, openapi_paths.subresource_kinds(served))
    return {
        "swagger": "2.0",
        "info": INFO,
        "paths": openapi_paths.v2(openapi_paths.operations(served)),
        "definitions": {name: _definition_in_v2(definition) for name, definition in found.items()},
        "securityDefinitions": BEARER,
        "security": [{"BearerToken": []}],
    }


def _definition_in_v2(definition: Schema) -> Schema:
    if definition.get("x-kubernetes-preserve-unknown-fields"):
        # A kind that takes any field. With a single property in it, kubectl would refuse all others.
        extensions = ("x-kubernetes-group-version-kind", "x-kubernetes-selectable-fields")
        return {"type": "object"} | {key: definition[key] for key in extensions if key in definition}
    return in_v2(definition)


def in_v2(schema: Schema) -> Schema:
    """A schema of OpenAPI 3 in the words that Swagger 2 has; what can't be said there is left out."""
    if "$ref" in schema:
        return {"$ref": schema["$ref"].replace(COMPONENTS, "#/definitions/")}
    result = {key: value for key, value in schema.items() if key not in NOT_IN_V2}
    if "oneOf" in schema and "type" not in schema:
        result["type"] = "string"  # quantities and int-or-strings, which are written as strings there
    if "allOf" in schema and "$ref" in schema["allOf"][0]:
        del result["allOf"]
        result |= in_v2(schema["allOf"][0])
    if schema.get("nullable") or schema.get("x-kubernetes-preserve-unknown-fields"):
        # There is no way to say "or null", or "and more". Clients that check would refuse what the server takes.
        result = {key: value for key, value in result.items() if key not in ("type", "items", "properties")}
    if "properties" in result:
        result["properties"] = {name: in_v2(inner) for name, inner in result["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = in_v2(result[key])
    return result


def _document(body: bytes, current: str) -> Answer:
    return Answer(body=body, headers=[("Etag", f'"{current}"'), ("Vary", "Accept")])


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _address(place: str, current: str) -> str:
    return f"/openapi/v3/{place}?hash={current}"


def _fingerprint(types: Iterable[ResourceType]) -> str:
    """A hash of all that goes into a document, without making it.

    What built-in kinds look like changes with the release only; making all of their schemas would take a second.
    """
    made_from: list[Any] = [*RELEASE]
    for served in types:
        made_from.append([served.kind, served.strategy.verbs, served.strategy.selectable_fields])
        if served.strategy.is_unstructured:
            made_from.append(served.schema)
    return _hash(made_from)


def _hash(made_from: Any) -> str:
    return sha512(msgspec.json.encode(made_from, order="deterministic")).hexdigest().upper()
