"""What differs between two states of an object, field by field, with the field managers of each. No I/O.

What may be secret is not in the result: only that it differs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from windvane.api.json_value import identical_json
from windvane.api.kind import Kind
from windvane.cli.redaction import GONE, redact

Wire: TypeAlias = dict[str, Any]
Action: TypeAlias = Literal["create", "change", "delete"]

KEYS = ("name", "type", "key", "uid", "containerPort", "port", "ip", "mountPath", "devicePath", "topologyKey")
"""What tells the items of a list from each other, as far as it does: the first that all have, each its own."""
QUIET = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
"""What servers keep in metadata for themselves."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""It says all over again what is said elsewhere, and may have secrets in it."""

OF_THE_SERVER = {
    "customresourcedefinitions.apiextensions.k8s.io": ("status.", "spec.conversion.webhook.clientConfig."),
}
"""Of which kinds which paths are not the writer's to say: where a webhook is, the operator says when it runs."""

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
SECRET_NAMES = re.compile(
    r"(?i)pass|secret|.*(pass(word|wd|phrase)|token|(api|private|secret|access)-?_?key|credentials?|client-?_?secret|"
    r"connection-?_?string)"
)
"""Fields with such a name, or one that ends so, have a secret in them; a `tlsSecret` is the name of a Secret."""
SECRET_FLAGS = re.compile(rf"--?({SECRET_NAMES.pattern.removeprefix('(?i)')})", re.IGNORECASE)
"""Arguments of programs after which a secret comes, as the next one."""
SECRET_VARIABLES = re.compile(r"(?i)pass|token|secret|credential|private|_key$|^key$|dsn|_url$|connection")
"""Variables of containers with such a name have."""


class _Absent:
    """Instead of the value of a field that is not there. None is a value."""

    def __repr__(self) -> str:
        return "ABSENT"


class _Hidden:
    """Instead of a value that may be secret."""

    def __repr__(self) -> str:
        return "HIDDEN"


ABSENT, HIDDEN = _Absent(), _Hidden()


class ListItem(NamedTuple):
    """A step of a path into a list: what the item is called, and the item itself."""

    label: str
    value: Any


Path: TypeAlias = tuple[str | ListItem, ...]


@dataclass(frozen=True)
class FieldChange:
    """A field that differs."""

    path: str
    old: Any
    """ABSENT if it was not there; HIDDEN if it may be secret."""
    new: Any
    owners: Sequence[str] = ()
    """The field managers that own it now."""
    then: Sequence[str] = ()
    """Those that own it then; what the server fills in has no owner."""


@dataclass(frozen=True)
class Handover:
    """A field that stays as it is, and gets other owners."""

    path: str
    owners: Sequence[str]
    then: Sequence[str]


@dataclass(frozen=True)
class ObjectChange:
    """What becomes of one object."""

    action: Action
    kind: Kind
    namespace: str
    name: str
    fields: Sequence[FieldChange] = ()
    handovers: Sequence[Handover] = ()
    generated: bool = False
    """Whether its name ends in what a server makes up."""
    owner: str = ""
    """What controls it: `Website blog`."""
    held_by: Sequence[str] = field(default=())
    """The finalizers that a deleted object waits for."""

    @property
    def where(self) -> str:
        """Its name: `default/blog`."""
        return "/".join(filter(None, (self.namespace, self.name)))


def object_change(kind: Kind, before: Wire | None, after: Wire | None) -> ObjectChange | None:
    """What differs between two states of an object, of which one may not be; None if nothing does that counts."""
    there = after or before
    if there is None:
        return None
    metadata = there["metadata"]
    deleted = after is None or (_is_leaving(after) and not (before and _is_leaving(before)))
    action: Action = "create" if before is None else "delete" if deleted else "change"
    change = ObjectChange(
        action,
        kind,
        metadata.get("namespace", ""),
        metadata["name"],
        fields=[] if action == "delete" else list(_fields(kind, before, after or {})),
        handovers=list(_handovers(before, after)) if before and after and action == "change" else [],
        generated=bool(before is None and metadata.get("generateName")),
        owner=_controller(metadata),
        held_by=metadata.get("finalizers") or [] if action == "delete" and after is not None else [],
    )
    return None if action == "change" and not change.fields and not change.handovers else change


def _is_leaving(wire: Wire) -> bool:
    return "deletionTimestamp" in wire["metadata"]


def _controller(metadata: Wire) -> str:
    owners = (each for each in metadata.get("ownerReferences") or () if each.get("controller"))
    return next((f"{each.get('kind')} {each.get('name')}" for each in owners), "")


# Fields


def _fields(kind: Kind, before: Wire | None, after: Wire) -> Iterator[FieldChange]:
    for path, was, is_ in differences(_shown(before or {}), _shown(after)):
        if path_in_words(path).startswith(OF_THE_SERVER.get(kind.resource, ())):
            continue
        old, new = without_secrets(was), without_secrets(is_)
        is_switch = isinstance(was, bool) or isinstance(is_, bool)  # automountServiceAccountToken
        if (may_be_secret(kind, path) and not is_switch) or _same(old, new):
            old, new = (each if each is ABSENT else HIDDEN for each in (was, is_))
        yield FieldChange(path_in_words(path), old, new, owners(before, path), owners(after, path))


def _shown(wire: Wire) -> Wire:
    """What of an object is compared."""
    shown = {name: value for name, value in wire.items() if name not in ("apiVersion", "kind", "metadata")}
    metadata = {name: value for name, value in (wire.get("metadata") or {}).items() if name not in QUIET}
    for name in ("name", "namespace", "generateName"):
        metadata.pop(name, None)
    if LAST_APPLIED in (annotations := metadata.get("annotations") or {}):
        metadata["annotations"] = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
    metadata = {name: value for name, value in metadata.items() if value not in ({}, [])}
    return {"metadata": metadata, **shown} if metadata else shown


def differences(old: Any, new: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """The innermost values that differ, each with its path; of items that change places, what they are called."""
    if _same(old, new):
        return
    if _is_map(old) and _is_map(new) and (_or_empty(old) or _or_empty(new)):
        old, new = _or_empty(old), _or_empty(new)
        for name in {**old, **new}:
            yield from differences(old.get(name, ABSENT), new.get(name, ABSENT), (*path, name))
    elif _is_objects(old) and _is_objects(new) and (_or_none(old) or _or_none(new)):
        olds, news = _items(_or_none(old), _or_none(new))
        for label in {**olds, **news}:
            was, is_ = olds.get(label, ABSENT), news.get(label, ABSENT)
            yield from differences(was, is_, (*path, ListItem(label, was if is_ is ABSENT else is_)))
        orders = [label for label in olds if label in news], [label for label in news if label in olds]
        if orders[0] != orders[1]:
            yield path, *orders
    else:
        yield path, old, new


def _same(old: Any, new: Any) -> bool:
    return old is new or identical_json(old, new)


def _is_map(value: Any) -> bool:
    return value is ABSENT or isinstance(value, dict)


def _is_objects(value: Any) -> bool:
    return value is ABSENT or (isinstance(value, list) and all(isinstance(each, dict) for each in value))


def _or_empty(value: Any) -> dict[str, Any]:
    return {} if value is ABSENT else value


def _or_none(value: Any) -> list[Any]:
    return [] if value is ABSENT else value


def _items(old: list[Any], new: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The items of two lists by what they are called in both: by a key, or else by their place."""
    for key in KEYS:
        values = [[each.get(key) for each in items] for items in (old, new)]
        if all(isinstance(value, str | int) for each in values for value in each) and all(
            len(set(each)) == len(each) for each in values
        ):
            return ({str(each[key]): each for each in old}, {str(each[key]): each for each in new})
    return ({str(n): each for n, each in enumerate(old)}, {str(n): each for n, each in enumerate(new)})


def path_in_words(path: Path) -> str:
    """`spec.template.spec.containers[web].image`."""
    words = ""
    for step in path:
        if isinstance(step, ListItem):
            words += f"[{step.label}]"
        elif PLAIN.fullmatch(step):
            words += f".{step}" if words else step
        else:
            words += f'["{step}"]'
    return words


# Secrets


def may_be_secret(kind: Kind, path: Path) -> bool:
    """Whether what is at a path may be a secret: the data of Secrets, and what is called a password, a token or so."""
    if kind.resource == "secrets" and path[:1] in (("data",), ("stringData",)):
        return True
    last = path[-1] if path else ""
    if last == "value" and len(path) > 1 and isinstance(item := path[-2], ListItem):
        return SECRET_VARIABLES.search(item.label) is not None
    return isinstance(last, str) and SECRET_NAMES.fullmatch(last) is not None


def without_secrets(value: Any) -> Any:
    """A value in whose texts nothing looks like a secret any more."""
    if isinstance(value, str):
        return redact(value, {})
    if isinstance(value, list):
        before = [None, *value]
        return [
            GONE if _comes_secret(last, each) else without_secrets(each)
            for last, each in zip(before, value, strict=False)
        ]
    return {name: without_secrets(each) for name, each in value.items()} if isinstance(value, dict) else value


def _comes_secret(last: Any, each: Any) -> bool:
    """Whether an argument is what the one before it is a flag for: `--password`, `correct horse`."""
    words = isinstance(last, str) and isinstance(each, str)
    return words and SECRET_FLAGS.fullmatch(last) is not None and not each.startswith("-")


# Owners


def owners(wire: Wire | None, path: Path) -> list[str]:
    """The field managers that own what is at a path."""
    entries = ((wire or {}).get("metadata") or {}).get("managedFields") or ()
    return list(dict.fromkeys(each.get("manager", "") for each in entries if _owns(each.get("fieldsV1") or {}, path)))


def _owns(fields: Mapping[str, Any], path: Path) -> bool:
    if not fields:
        return False
    for step in path:
        if not fields:
            return True  # all that is here, as one value
        inner = _inner(fields, step)
        if inner is None:
            return False
        fields = inner
    return True


def _inner(fields: Mapping[str, Any], step: str | ListItem) -> Mapping[str, Any] | None:
    if isinstance(step, str):
        inner: Mapping[str, Any] | None = fields.get(f"f:{step}")
        return inner
    for name, inner in fields.items():
        mark, _, said = name.partition(":")
        if mark == "k" and isinstance(step.value, dict) and msgspec.json.decode(said).items() <= step.value.items():
            return inner or {}
        if mark == "i" and said == step.label:
            return inner or {}
    return None


def _handovers(before: Wire, after: Wire) -> Iterator[Handover]:
    """The fields that stay as they are, and get other owners."""
    if before["metadata"].get("managedFields") == after["metadata"].get("managedFields"):
        return
    shown = _shown(after)
    changed = {path_in_words(path) for path, _, _ in differences(_shown(before), shown)}
    for path, _, _ in differences(ABSENT, shown):
        was, is_ = owners(before, path), owners(after, path)
        if set(was) != set(is_) and (words := path_in_words(path)) not in changed:
            yield Handover(words, was, is_)
