"""From the JSON of an object to the object, and to what Go's decoders would say about it.

They say it in this order: what kind it is, whether that can be read, whether its values are of the right types,
whether it is what was expected. What is unknown or comes twice is a complaint, and refused if the request asks so.
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
    """An object that can't be read; its kind and version are empty if not even they are known."""

    def __init__(self, problem: str, kind: str = "", version: str = "") -> None:
        super().__init__(problem)
        self.kind = kind
        self.version = version


@dataclass(frozen=True, slots=True)
class DecodedObject:
    """An object that could be read."""

    wire: Wire
    api_version: str
    """What it says, or what was expected if it says nothing."""
    kind: str
    complaints: list[str]

    @property
    def version(self) -> str:
        """The version without its group."""
        return _version(self.api_version)


def decode_builtin(body: bytes, expected: Kind) -> DecodedObject:
    """An object of a built-in kind. It may be of another version than expected: it is for the caller to mind that."""
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
    """An object of a custom kind, or of any other: all that must be right is its metadata. `sent` may be YAML."""
    value = json_value(body)
    api_version, _ = type_meta(value)
    name = (value or {}).get("kind")
    if not name:
        raise Unreadable(f"Object 'Kind' is missing in '{sent.decode(errors='replace')}'")
    metadata = value.get("metadata")
    problem, unknown = examine(ObjectMeta, {} if metadata is None else metadata, "v1")
    if problem:
        raise Unreadable(problem, name, _version(api_version))
    # What is of another kind is not known well enough to say more, and will be refused for that.
    if (api_version.rpartition("/")[0], name) == (expected.group, expected.name):
        unknown = unknown_fields(value)
    complaints = duplicates(decode_exactly(body)) if repeats(body, value) else []
    return DecodedObject(value, api_version, name, complaints + unknown)


def decode_delete_options(body: bytes) -> Wire:
    """How something is to be deleted."""
    value = json_value(body)
    api_version, name = type_meta(value)
    if name not in ("", "DeleteOptions"):
        where = f'for version "{api_version or "v1"}" in scheme "pkg/runtime/scheme.go:111"'
        raise Unreadable(f'no kind "{name}" is registered {where}')
    if problem := examine(DeleteOptions, value or {}, "v1").problem:
        raise Unreadable(problem)
    return value or {}


def json_value(body: bytes) -> Any:
    """What is in a body that should be an object's; `Unreadable` if it is no JSON."""
    try:
        return decode(body)
    except NotJson as error:
        raise Unreadable(f"{_NO_KIND}{error}") from error


def type_meta(value: Any) -> tuple[str, str]:
    """The apiVersion and the kind that an object states; `Unreadable` if it is none."""
    if value is None:
        return "", ""
    if not isinstance(value, dict):
        raise Unreadable(_NO_KIND + mismatch(value, "value", _TYPE_META))
    api_version, kind = _text(value, "apiVersion"), _text(value, "kind")
    if api_version.count("/") > 1:
        raise Unreadable(f"unexpected GroupVersion string: {api_version}")
    return api_version, kind


def _text(value: Wire, name: str) -> str:
    """The last field of that name. This is the one place where Go doesn't mind upper and lower case."""
    found = ""
    for key, each in value.items():
        if key.lower() == name.lower() and each is not None:
            if not isinstance(each, str):
                raise Unreadable(_NO_KIND + mismatch(each, f"struct field .{name}", "string"))
            found = each
    return found


def _version(api_version: str) -> str:
    return api_version.rpartition("/")[2]
