"""Writes the document of Swagger 2 as protobuf, which is how Go's clients ask for it.

`kubectl` does when it meets a kind that the documents of OpenAPI 3 don't have: without an answer it can't say that. The
messages are those of the package openapi.v2 of gnostic. What may be anything is YAML there.
"""

import struct
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import msgspec

from windvane.cluster.apiserver.encoding.protobuf_parts import number, part, text
from windvane.cluster.apiserver.encoding.yaml_text import to_yaml

Wire = Mapping[str, Any]

# A field is `number:name in JSON:type`. A type is a scalar or a message, or `[]` (a list) or `{}` (a map) of it. All
# names that begin with x- are in the field of the name `x-`.
_PRIMITIVE = """
    {}:type:string {}:format:string {}:items:Primitive {}:collectionFormat:string {}:default:Any {}:maximum:double
    {}:exclusiveMaximum:bool {}:minimum:double {}:exclusiveMinimum:bool {}:maxLength:int {}:minLength:int
    {}:pattern:string {}:maxItems:int {}:minItems:int {}:uniqueItems:bool {}:enum:[]Any {}:multipleOf:double"""
_PARAMETER = "1:required:bool 2:in:string 3:description:string 4:name:string"
_MESSAGES = {
    "Document": """
        1:swagger:string 2:info:Info 3:host:string 4:basePath:string 5:schemes:[]string 6:consumes:[]string
        7:produces:[]string 8:paths:Paths 9:definitions:{}Schema 10:parameters:{}Parameter 11:responses:{}Response
        12:security:[]Requirement 13:securityDefinitions:{}Security 16:x-:Any""",
    "Info": "1:title:string 2:version:string 3:description:string 7:x-:Any",
    "Path": """
        1:$ref:string 2:get:Operation 3:put:Operation 4:post:Operation 5:delete:Operation 6:options:Operation
        7:head:Operation 8:patch:Operation 9:parameters:[]ParameterItem 10:x-:Any""",
    "Operation": """
        1:tags:[]string 2:summary:string 3:description:string 5:operationId:string 6:produces:[]string
        7:consumes:[]string 8:parameters:[]ParameterItem 9:responses:Responses 10:schemes:[]string 11:deprecated:bool
        12:security:[]Requirement 13:x-:Any""",
    "Reference": "1:$ref:string 2:description:string",
    "BodyParameter": "1:description:string 2:name:string 3:in:string 4:required:bool 5:schema:Schema 6:x-:Any",
    "Primitive": _PRIMITIVE.format(*range(1, 18)) + " 18:x-:Any",
    "PathParameter": _PARAMETER + _PRIMITIVE.format(*range(5, 22)) + " 22:x-:Any",
    "QueryParameter": _PARAMETER + " 5:allowEmptyValue:bool" + _PRIMITIVE.format(*range(6, 23)) + " 23:x-:Any",
    "Response": "1:description:string 2:schema:SchemaItem 5:x-:Any",
    "Schema": """
        1:$ref:string 2:format:string 3:title:string 4:description:string 5:default:Any 6:multipleOf:double
        7:maximum:double 8:exclusiveMaximum:bool 9:minimum:double 10:exclusiveMinimum:bool 11:maxLength:int
        12:minLength:int 13:pattern:string 14:maxItems:int 15:minItems:int 16:uniqueItems:bool 17:maxProperties:int
        18:minProperties:int 19:required:[]string 20:enum:[]Any 21:additionalProperties:Additional 22:type:Type
        23:items:Items 24:allOf:[]Schema 25:properties:{}Schema 26:discriminator:string 27:readOnly:bool
        29:externalDocs:Docs 30:example:Any 31:x-:Any""",
    "Docs": "1:description:string 2:url:string 3:x-:Any",
    "ApiKey": "1:type:string 2:name:string 3:in:string 4:description:string 5:x-:Any",
}


def write_document(document: Wire) -> bytes:
    """A document of Swagger 2."""
    return _message("Document", document)


class _Field(NamedTuple):
    name: str
    write: Callable[[Any], bytes]


def _message(name: str, value: Wire) -> bytes:
    said = b"".join(field.write(value[field.name]) for field in _fields(name) if field.name in value)
    return said + _rest(name, value)


@cache
def _fields(name: str) -> list[_Field]:
    found = []
    for written in _MESSAGES[name].split():
        place, json_name, type_ = written.split(":")
        if json_name != "x-":
            found.append(_Field(json_name, _writer(int(place), type_)))
    return found


@cache
def _place_of_rest(name: str) -> int:
    return next((int(each.split(":")[0]) for each in _MESSAGES[name].split() if ":x-:" in each), 0)


def _rest(name: str, value: Wire) -> bytes:
    if not (place := _place_of_rest(name)):
        return b""
    return b"".join(part(place, _named(key, _any(value[key]))) for key in value if key.startswith("x-"))


def _writer(place: int, type_: str) -> Callable[[Any], bytes]:
    if type_.startswith("[]"):
        inner = _content(type_[2:])
        return lambda values: b"".join(part(place, inner(each)) for each in values)
    if type_.startswith("{}"):
        inner = _content(type_[2:])
        return lambda values: part(place, _entries(1, values, inner))
    match type_:
        case "string":
            return lambda value: text(place, value) if value else b""
        case "bool" | "int":
            return lambda value: number(place, value) if value else b""
        case "double":
            return lambda value: bytes([place << 3 | 1]) + struct.pack("<d", value) if value else b""
        case _:
            inner = _content(type_)
            return lambda value: part(place, inner(value))


def _content(type_: str) -> Callable[[Any], bytes]:
    """What writes a message, or a text, without the number of its field."""
    return _SPECIAL[type_] if type_ in _SPECIAL else lambda value: _message(type_, value)


def _entries(place: int, values: Wire, inner: Callable[[Any], bytes]) -> bytes:
    return b"".join(part(place, _named(name, inner(value))) for name, value in values.items())


def _named(name: str, content: bytes) -> bytes:
    return text(1, name) + part(2, content)


def _any(value: Any) -> bytes:
    return _yaml(msgspec.json.encode(value))


@lru_cache(4096)
def _yaml(value: bytes) -> bytes:
    """There are thousands of these in a document, and few that differ."""
    return text(2, to_yaml(msgspec.json.decode(value), sort=False))


def _paths(paths: Wire) -> bytes:
    return _entries(2, paths, lambda path: _message("Path", path))


def _responses(responses: Wire) -> bytes:
    return _entries(1, responses, _response)


def _response(response: Wire) -> bytes:
    return part(2, _message("Reference", response)) if "$ref" in response else part(1, _message("Response", response))


def _parameter_item(parameter: Wire) -> bytes:
    return part(2, _message("Reference", parameter)) if "$ref" in parameter else part(1, _parameter(parameter))


def _parameter(parameter: Wire) -> bytes:
    match parameter["in"]:
        case "body":
            return part(1, _message("BodyParameter", parameter))
        case "header":
            return part(2, part(1, _message("PathParameter", parameter)))  # the same fields as one in a path
        case "query":
            return part(2, part(3, _message("QueryParameter", parameter)))
        case _:
            return part(2, part(4, _message("PathParameter", parameter)))


def _additional(value: Any) -> bytes:
    return number(2, value) if isinstance(value, bool) else part(1, _message("Schema", value))


def _security(scheme: Wire) -> bytes:
    return part(2, _message("ApiKey", scheme))


def _requirement(requirement: Wire) -> bytes:
    return _entries(1, requirement, lambda scopes: b"".join(text(1, each) for each in scopes))


_SPECIAL: Mapping[str, Callable[[Any], bytes]] = {
    "Additional": _additional,
    "Any": _any,
    "Items": lambda schema: part(1, _message("Schema", schema)),
    "Parameter": _parameter,
    "ParameterItem": _parameter_item,
    "Paths": _paths,
    "Requirement": _requirement,
    "Responses": _responses,
    "SchemaItem": lambda schema: part(1, _message("Schema", schema)),
    "Security": _security,
    "Type": lambda type_: text(1, type_),
    "string": str.encode,
}
