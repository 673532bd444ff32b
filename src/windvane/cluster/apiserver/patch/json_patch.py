"""JSON patch (RFC 6902): a list of operations on a document, done one after the other, or none of them.

It takes what a real API server takes, which is more than the RFC allows: `replace` works where nothing was, `-1` is
the last item of a list, `test` finds null where there is nothing, `copy` makes null of nothing. Why an operation can't
be done is no part of the server's answer; it is in the exception's `__cause__`.
"""

import re
from typing import Any

import msgspec

from windvane.api.status import StatusDetails
from windvane.cluster.apiserver.builtin.decode import examine_as, mismatch
from windvane.cluster.apiserver.builtin.shapes import ListOf, StructOf
from windvane.cluster.apiserver.failure import Failure, bad_request, failure

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
        work = _Work(document)
        for operation in operations:
            work.do(operation or {})
    except (_DoesNotApply, RecursionError) as error:  # deeper than Python can go is deeper than anybody needs
        raise rejected() from error
    return work.document


def check(operations: Any) -> list[str]:
    """What the server looks at first unless fieldValidation is Ignore: fields that are unknown or come twice."""
    problem, complaints = examine_as(_OPERATIONS, operations, "handlers")
    if problem:
        raise bad_request(f"error decoding patch: {problem}")
    return [f"json patch {complaint}" for complaint in complaints]


def rejected() -> Failure:
    """The server's answer to a patch that can be read but not applied."""
    return failure(422, "Invalid", "the server rejected our request due to an error in our request", StatusDetails())


class _DoesNotApply(Exception):
    """An operation that can't be done on this document."""


class _Work:
    """A document of our own, which the operations change in place."""

    def __init__(self, document: Any) -> None:
        self.document = _copied(document)
        self._copied_bytes = 0

    def do(self, operation: dict[str, Any]) -> None:
        value = operation.get("value")
        match operation.get("op"):
            case "add":
                self._add(_pointer(operation, "path"), _copied(value))
            case "remove":
                self._remove(_pointer(operation, "path"))
            case "replace":
                self._replace(_pointer(operation, "path"), _copied(value))
            case "move":
                source = _pointer(operation, "from")
                moved = self._get(source)
                self._remove(source)
                self._add(_pointer(operation, "path"), moved)
            case "copy":
                self._add(_pointer(operation, "path"), self._copy(self._get(_pointer(operation, "from"))))
            case "test":
                pointer = _pointer(operation, "path")
                found = self.document if pointer == "" else self._get(pointer)
                if not _same(found, value):
                    raise _DoesNotApply(f"{pointer!r} is not as tested")
            case unknown:
                raise _DoesNotApply(f"there is no operation {unknown!r}")

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
            container.insert(_index(key, len(container) + 1), value)

    def _remove(self, pointer: str) -> None:
        container, key = self._find(pointer)
        if isinstance(container, list):
            del container[_index(key, len(container))]
        elif key in container:
            del container[key]
        else:
            raise _DoesNotApply(f"there is nothing at {pointer!r} to remove")

    def _replace(self, pointer: str, value: Any) -> None:
        if pointer == "":
            if not isinstance(value, dict | list):
                raise _DoesNotApply("a whole document can be replaced by an object or a list only")
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
            raise _DoesNotApply(f"the copies are {self._copied_bytes} bytes, and the limit is {MOST_COPIED_BYTES}")
        return _copied(value)

    def _find(self, pointer: str) -> tuple[dict[str, Any] | list[Any], str]:
        """The object or list that holds the place, and the key or index there. What is before the first / is nothing.

        The document itself is in nothing, so "" is no such place.
        """
        _, *keys = (token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/"))
        if not keys:
            raise _DoesNotApply(f"{pointer!r} is no place in the document; begin with a /")
        container = self.document
        for key in keys[:-1]:
            container = _child(container, key)
        if not isinstance(container, dict | list):
            raise _DoesNotApply(f"there is nothing that could hold {pointer!r}")
        return container, keys[-1]


def _pointer(operation: dict[str, Any], field: str) -> str:
    pointer = operation.get(field)
    if not isinstance(pointer, str):
        raise _DoesNotApply(f"{operation.get('op')!r} needs {field!r}")
    return pointer


def _child(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    if isinstance(container, list):
        return container[_index(key, len(container))]
    raise _DoesNotApply(f"there is no {key!r} in what is neither an object nor a list")


def _index(key: str, length: int) -> int:
    index = int(key) if _INDEX.fullmatch(key) else length
    if not -length <= index < length:
        raise _DoesNotApply(f"{key!r} is no index of a list of {length}")
    return index % length


def _same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON; for Python alone, 1 would be both true and 1.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return value
