"""JSON patch (RFC 6902): a list of operations on a document, done one after the other, or none of them.

It takes what a real API server takes, which is more than the RFC allows: `replace` works where nothing was, `-1` is
the last item of a list, `test` finds null where there is nothing, `copy` makes null of nothing. Why an operation can't
be done is no part of the server's answer, unless it was a webhook's: `DoesNotApply` says it in the real one's words.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from windvane.api.json_value import identical_json, json_copy
from windvane.api.status import StatusDetails
from windvane.api.wording import quoted
from windvane.cluster.apiserver.failure import Failure, bad_request, failure
from windvane.cluster.apiserver.schema.go_decoder import examine_as, mismatch
from windvane.cluster.apiserver.schema.shapes import ListOf, StructOf

MOST_OPERATIONS = 10_000
MOST_COPIED_BYTES = 3 * 1024 * 1024
"""How much all `copy` operations together may add: twenty that each copy their own result make a million of one."""

_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_OPERATION = msgspec.defstruct(
    "jsonPatchOp", [("op", str), ("path", str), ("from_", str), ("value", Any)], rename={"from_": "from"}
)
_OPERATIONS = ListOf(StructOf(_OPERATION))


def apply(document: Any, operations: Any) -> Any:
    """The document after the operations. Shares nothing with either, and leaves both as they were."""
    operations = [] if operations is None else operations
    if not isinstance(operations, list):
        raise bad_request(mismatch(operations, "value", "jsonpatch.Patch"))
    for operation in operations:
        if not isinstance(operation, dict | None):
            raise bad_request(mismatch(operation, "value", "jsonpatch.Operation"))
    if len(operations) > MOST_OPERATIONS:
        what = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(operations)}"
        raise failure(413, "RequestEntityTooLarge", f"Request entity too large: {what}")
    try:
        return applied(document, operations)
    except (DoesNotApply, RecursionError) as error:  # a document that is too deep for Python is refused
        raise rejected() from error


def applied(document: Any, operations: list[dict[str, Any] | None]) -> Any:
    """The same; `DoesNotApply` says why an operation can't be done."""
    changed = _Document(document)
    for operation in operations:
        changed.do(operation or {})
    return changed.document


def check(operations: Any) -> list[str]:
    """Complaints about unknown and duplicate fields in a patch, unless fieldValidation is Ignore."""
    problem, complaints = examine_as(_OPERATIONS, operations, "handlers")
    if problem:
        raise bad_request(f"error decoding patch: {problem}")
    return [f"json patch {complaint}" for complaint in complaints]


def rejected() -> Failure:
    """The server's answer to a patch that can be read but not applied."""
    return failure(422, "Invalid", "the server rejected our request due to an error in our request", StatusDetails())


class DoesNotApply(Exception):
    """An operation that can't be done on this document; the text is Go's."""


class _NoSuchPlace(Exception):
    """There is nothing that could hold a value there."""


class _NotThere(Exception):
    """What should be at a place of an object or a list is not; the text is Go's."""


class _Document:
    """A document of our own, which the operations change in place."""

    def __init__(self, document: Any) -> None:
        self.document = json_copy(document)
        self._copied_bytes = 0

    def do(self, operation: dict[str, Any]) -> None:
        name = operation.get("op")
        if name not in ("add", "copy", "move", "remove", "replace", "test"):
            raise DoesNotApply(f"Unexpected kind: {'unknown' if name is None else name}")
        path, value = _pointer(operation, "path"), operation.get("value")
        match name:
            case "add":
                missing = f'add operation does not apply: doc is missing path: "{path}"'
                with _told(missing, f"error in add for path: '{path}'"):
                    self._add(path, json_copy(value))
            case "remove":
                missing = f'remove operation does not apply: doc is missing path: "{path}"'
                with _told(missing, f"error in remove for path: '{path}'"):
                    self._remove(path)
            case "replace":
                missing = f"replace operation does not apply: doc is missing path: {path}"
                with _told(missing, f"replace operation does not apply: doc is missing key: {path}: missing value", ""):
                    self._replace(path, json_copy(value))
            case "move":
                source = _pointer(operation, "from")
                missing = f"move operation does not apply: doc is missing from path: {source}"
                with _told(missing, f"error in move for path: '{source.rpartition('/')[2]}'"):
                    moved = self._get(source)
                    self._remove(source)
                missing = f"move operation does not apply: doc is missing destination path: {path}"
                with _told(missing, f"error in move for path: '{path}'"):
                    self._add(path, moved)
            case "copy":
                source = _pointer(operation, "from")
                missing = f"copy operation does not apply: doc is missing from path: {source}"
                with _told(missing, f"error in copy for from: '{source}'"):
                    found = self._get(source)
                missing = f"copy operation does not apply: doc is missing destination path: {path}"
                with _told(missing, "error while adding value during copy"):
                    self._add(path, self._copy(found))
            case "test":
                missing = f"test operation does not apply: is missing path: {path}"
                with _told(missing, f"error in test for path: '{path}'"):
                    found = self.document if path == "" else self._get(path)
                if not identical_json(found, value):
                    raise DoesNotApply(f"testing value {path} failed: test failed")

    def _get(self, pointer: str) -> Any:
        container, key = self._find(pointer)
        return _child(container, key)

    def _add(self, pointer: str, value: Any) -> None:
        container, key = self._find(pointer)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_index(key, len(container) + 1, "value was not a proper array index: '{}': "), value)

    def _remove(self, pointer: str) -> None:
        container, key = self._find(pointer)
        if isinstance(container, list):
            del container[_index(key, len(container))]
        elif key in container:
            del container[key]
        else:
            raise _NotThere(f"Unable to remove nonexistent key: {key}: missing value")

    def _replace(self, pointer: str, value: Any) -> None:
        if pointer == "":
            if not isinstance(value, dict | list):
                raise DoesNotApply("replace operation value must be object or array: unknown object type")
            self.document = value
            return
        container, key = self._find(pointer)
        if isinstance(container, dict):
            container[key] = value
        else:
            container[_index(key, len(container))] = value

    def _copy(self, value: Any) -> Any:
        if value is not None:
            self._copied_bytes += len(msgspec.json.encode(value))
        if self._copied_bytes > MOST_COPIED_BYTES:
            total = f"{self._copied_bytes}, exceeding the limit {MOST_COPIED_BYTES}"
            raise DoesNotApply(f"Unable to complete the copy, the accumulated size increase of copy is {total}")
        return json_copy(value)

    def _find(self, pointer: str) -> tuple[dict[str, Any] | list[Any], str]:
        """The object or list that holds the place, and the key or index there. What is before the first / is nothing.

        The document itself is in nothing, so "" is no such place.
        """
        _, *keys = (token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/"))
        if not keys:
            raise _NoSuchPlace
        container = self.document
        try:
            for key in keys[:-1]:
                container = _child(container, key)
        except _NotThere:
            raise _NoSuchPlace from None
        if not isinstance(container, dict | list):
            raise _NoSuchPlace
        return container, keys[-1]


@contextmanager
def _told(no_place: str, not_there: str, why: str = ": {}") -> Iterator[None]:
    """Say what could not be done in the words of the operation, whatever step of it failed."""
    try:
        yield
    except _NoSuchPlace:
        raise DoesNotApply(f"{no_place}: missing value") from None
    except _NotThere as error:
        raise DoesNotApply(not_there + why.format(error)) from None


def _pointer(operation: dict[str, Any], field: str) -> str:
    pointer = operation.get(field)
    if not isinstance(pointer, str):
        raise DoesNotApply(f"{operation.get('op')} operation failed to decode {field}: missing value")
    return pointer


def _child(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    if isinstance(container, list):
        return container[_index(key, len(container))]
    raise _NoSuchPlace


def _index(key: str, length: int, about: str = "") -> int:
    if not _INDEX.fullmatch(key):
        raise _NotThere(f"{about.format(key)}strconv.Atoi: parsing {quoted(key)}: invalid syntax")
    if not -length <= (index := int(key)) < length:
        raise _NotThere(f"Unable to access invalid index: {index}: invalid index referenced")
    return index % length
