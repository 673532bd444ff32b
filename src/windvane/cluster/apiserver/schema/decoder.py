"""Decodes the JSON of objects, with the errors of Go's decoders.

The checks, in order: its kind is stated, the kind is registered, its values have the right types, it is the expected
kind. Unknown and duplicate fields are complaints, which `fieldValidation` may turn into errors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.meta import ObjectMeta
from windvane.cluster.apiserver.encoding.strict_json import NotJson, decode, decode_exactly, duplicates, merged, repeats
from windvane.cluster.apiserver.schema.go_decoder import examine, mismatch
from windvane.cluster.apiserver.schema.scheme import NotRegistered, OpaqueKind, class_for, internal_package, package_of
from windvane.k8s.policy import DeleteOptions

_NO_KIND = "couldn't get version/kind; json parse error: "
_TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


class Unreadable(ValueError):
    """The object can't be decoded; its kind and version are empty if they are unknown, too."""

    def __init__(self, problem: str, kind: str = "", version: str = "") -> None:
        super().__init__(problem)
        self.kind = kind
        self.version = version


@dataclass(frozen=True, slots=True)
class DecodedObject:
    """A decoded object."""

    wire: Wire
    api_version: str
    """The stated one, or else the expected one."""
    kind: str
    complaints: list[str]

    @property
    def version(self) -> str:
        """The version without its group."""
        return _version(self.api_version)


def decode_builtin(body: bytes, expected: Kind) -> DecodedObject:
    """Decode an object of a built-in kind. It may be of another version than expected: the caller checks that."""
    value = json_value(body)
    api_version, name = type_meta(value)
    value = value or {}
    api_version, name = api_version or expected.api_version, name or expected.name
    version = _version(api_version)
    try:
        cls = class_for(expected.group, api_version, name)
    except NotRegistered as error:
        raise Unreadable(str(error), name, version) from error
    complaints: list[str] = []
    if cls is not OpaqueKind:
        problem, complaints = examine(cls, value, version)
        if problem or complaints or repeats(body, value):
            exactly = decode_exactly(body) or {}
            problem, complaints = examine(cls, exactly, version)
            value = merged(exactly)
        if problem:
            raise Unreadable(problem, name, version)
    if name != expected.name:
        into = f"{internal_package(expected.group)}.{expected.name}"
        what = f"{package_of(api_version, name)}.{name}"
        raise Unreadable(f"converting ({what}) to ({into}): unknown conversion", name, version)
    value["apiVersion"], value["kind"] = expected.api_version, expected.name
    return DecodedObject(value, api_version, name, complaints)


def decode_custom(
    body: bytes, expected: Kind, unknown_fields: Callable[[Wire], list[str]], sent: bytes
) -> DecodedObject:
    """Decode an object of a custom kind, of which only the metadata has a type. `sent` may be YAML."""
    value = json_value(body)
    api_version, _ = type_meta(value)
    name = (value or {}).get("kind")
    if not name:
        raise Unreadable(f"Object 'Kind' is missing in '{sent.decode(errors='replace')}'")
    metadata = value.get("metadata")
    problem, unknown = examine(ObjectMeta, {} if metadata is None else metadata, "v1")
    if problem:
        raise Unreadable(problem, name, _version(api_version))
    # An object of another kind is refused later, without complaints.
    if (api_version.rpartition("/")[0], name) == (expected.group, expected.name):
        unknown = unknown_fields(value)
    complaints = duplicates(decode_exactly(body)) if repeats(body, value) else []
    return DecodedObject(value, api_version, name, complaints + unknown)


def decode_delete_options(body: bytes) -> Wire:
    """Decode DeleteOptions."""
    value = json_value(body)
    api_version, name = type_meta(value)
    if name not in ("", "DeleteOptions"):
        where = f'for version "{api_version or "v1"}" in scheme "pkg/runtime/scheme.go:111"'
        raise Unreadable(f'no kind "{name}" is registered {where}')
    if problem := examine(DeleteOptions, value or {}, "v1").problem:
        raise Unreadable(problem)
    return value or {}


def json_value(body: bytes) -> Any:
    """The JSON value of a body; `Unreadable` if it is not JSON."""
    try:
        return decode(body)
    except NotJson as error:
        raise Unreadable(f"{_NO_KIND}{error}") from error


def type_meta(value: Any) -> tuple[str, str]:
    """The stated apiVersion and kind; `Unreadable` if the value is no object."""
    if value is None:
        return "", ""
    if not isinstance(value, dict):
        raise Unreadable(_NO_KIND + mismatch(value, "value", _TYPE_META))
    api_version, kind = _text(value, "apiVersion"), _text(value, "kind")
    if api_version.count("/") > 1:
        raise Unreadable(f"unexpected GroupVersion string: {api_version}")
    return api_version, kind


def _text(value: Wire, name: str) -> str:
    """The last field of that name. Only here does Go ignore case."""
    found = ""
    for key, each in value.items():
        if key.lower() == name.lower() and each is not None:
            if not isinstance(each, str):
                raise Unreadable(_NO_KIND + mismatch(each, f"struct field .{name}", "string"))
            found = each
    return found


def _version(api_version: str) -> str:
    return api_version.rpartition("/")[2]
