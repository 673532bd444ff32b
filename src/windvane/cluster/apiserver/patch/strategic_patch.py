"""Strategic merge patch: a merge patch that knows which lists are merged, by which key, from the kind's schema.

Beside values, such a patch holds directives, which are keys that begin with `$`:

    $patch: delete | replace            what becomes of the map, or of the list's item, that it is in
    $setElementOrder/<list>             the order of the list's items; what only the server has stays between them
    $deleteFromPrimitiveList/<list>     values to take out of a list of strings or numbers
    $retainKeys                         the only fields that the map may have afterwards

Where the schema says nothing, a map is merged and a list is replaced. The rules, and the words for what breaks them,
are those of a real API server; that it calls most of the latter 500, an error of its own, is its way, too.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

from windvane.api.custom_resources.schema import Schema
from windvane.api.wording import quoted, shown_float
from windvane.cluster.apiserver.failure import Failure, bad_request, failure
from windvane.cluster.apiserver.patch.json_patch import rejected
from windvane.cluster.apiserver.patch.merge_patch import without_nulls
from windvane.cluster.apiserver.schema.go_decoder import mismatch

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
SET_ELEMENT_ORDER = "$setElementOrder"
DELETE_FROM_PRIMITIVE_LIST = "$deleteFromPrimitiveList"

_GO_TYPES = {
    dict: "map[string]interface {}", list: "[]interface {}", str: "string", bool: "bool", int: "int64",
    float: "float64", type(None): "%!s(<nil>)",
}  # fmt: skip

Map = dict[str, Any]
List = list[Any]


def apply(document: Map, patch: Any, schema: Schema) -> Map:
    """The document under the patch. Shares what is unchanged with both, and leaves both as they were.

    `schema` is of the document's kind, as `windvane.api.custom_resources.schema.schema(Class, builtin=True)` makes it.
    """
    if patch is None:
        return document
    if not isinstance(patch, dict):
        raise bad_request(mismatch(patch, "value", _GO_TYPES[dict]))
    try:
        return _merge_maps(document, patch, schema)
    except RecursionError as error:
        raise bad_request("exceeded max depth") from error


def printed(value: Any) -> str:
    """A value as Go prints it (%v), as in `map[image:nginx name:web]`."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return shown_float(value)
        case dict():
            return f"map[{' '.join(f'{key}:{printed(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(printed, value))}]"
    return str(value)


class _Field(NamedTuple):
    """What the schema says about a field that is patched."""

    schema: Schema
    """Of the field, or of its items if it is a list."""
    merged: bool
    replaced: bool
    key: str
    """The field by which a merged list's items are known; empty if the items are no maps."""


def _field(schema: Schema, name: str, kind: type[Map | List]) -> _Field:
    properties = schema.get("properties")
    if "additionalProperties" in schema:
        raise _refused("merging an object in json but data type is not struct, instead is: map")
    if properties is None:
        return _Field({}, merged=False, replaced=False, key="")
    if name not in properties:
        raise _refused(f"unable to find api field in struct for the json field {quoted(name)}")
    found = properties[name]
    if kind is list and found.get("type") != "array":
        raise _refused("expected slice or array type, but got: struct")
    strategies = found.get("x-kubernetes-patch-strategy", "").split(",")
    key = found.get("x-kubernetes-patch-merge-key", "")
    inner = found["items"] if kind is list else found
    return _Field(inner, merged="merge" in strategies, replaced="replace" in strategies, key=key)


def _merge_maps(server: Map, patch: Map, schema: Schema) -> Map:
    if PATCH in patch:
        return _directed(patch)
    patch = dict(patch)
    merged = _retained(server, patch)
    for directive in [key for key in patch if key.startswith(SET_ELEMENT_ORDER)]:
        _merge_in_order(merged, patch, directive, schema)
    for key, value in patch.items():
        deletion = key.startswith(DELETE_FROM_PRIMITIVE_LIST)
        name = _listed(key, DELETE_FROM_PRIMITIVE_LIST, "primitive list") if deletion else key
        if value is None:
            merged.pop(name, None)
        elif name not in merged or type(merged[name]) is not type(value):
            if not deletion:
                merged.pop(name, None)
                merged |= _without_directives({name: without_nulls(value)})
        elif isinstance(value, dict):
            field = _field(schema, name, dict)
            merged[name] = value if field.replaced else _merge_maps(merged[name], value, field.schema)
        elif isinstance(value, list):
            field = _field(schema, name, list)
            if deletion or field.merged:
                merged[name] = _merge_lists(merged[name], value, field, deletion=deletion).items
            else:
                merged[name] = value
        else:
            merged[name] = value
    return merged


def _directed(patch: Map) -> Map:
    match patch[PATCH]:
        case "replace":
            return {key: value for key, value in patch.items() if key != PATCH}
        case "delete":
            return {}
    raise _unknown_directive(patch)


def _retained(server: Map, patch: Map) -> Map:
    """A copy of the server's map, with no fields but those that the directive names; it is taken from `patch`."""
    if RETAIN_KEYS not in patch:
        return dict(server)
    keys = patch.pop(RETAIN_KEYS)
    directives = (DELETE_FROM_PRIMITIVE_LIST, SET_ELEMENT_ORDER)
    patched = [key for key, value in patch.items() if value is not None and not key.startswith(directives)]
    retained = {key for key in keys if isinstance(key, str)} if isinstance(keys, list) else None
    if retained is None or not retained.issuperset(patched):
        raise bad_request("invalid patch format of retainKeys")
    return {key: value for key, value in server.items() if key in retained}


def _merge_in_order(merged: Map, patch: Map, directive: str, schema: Schema) -> None:
    """Do in `merged` what `patch` says about a list whose order it gives, and take it all from `patch`."""
    order = patch.pop(directive)
    _expect(list, order)
    name = _listed(directive, SET_ELEMENT_ORDER, "setElementOrder list")
    for where in (merged, patch):
        if name in where:
            _expect(list, where[name])
    server, items = merged.get(name), patch.pop(name, None)
    field = _field(schema, name, list)
    _check_order(items or [], order, field.key)
    if server is None and items is None:
        return
    together = _Merged(server or [], server or [])
    if server is None:
        together = _Merged(_without_directives(items), [])
    elif items is not None:
        together = _merge_lists(server, items, field) if field.merged else _Merged(items, server)
    merged[name] = _in_order(together.items, order, together.server_order, field.key)
    _type_of_items(server or [], items or [])


def _check_order(patch: List, order: List, key: str) -> None:
    """The patch's items must be in the order that the directive gives, and in it."""
    if not order or not patch:
        return
    if key:
        for item in patch:
            _expect(dict, item)
    items = [item for item in patch if not (key and item.get(PATCH) == "delete")]
    done = 0
    for ordered in order:
        while done < len(items) and isinstance(items[done], dict) and PATCH in items[done]:
            done += 1
        if done < len(items) and _identity(items[done], key) == _identity(ordered, key):
            done += 1
    if done < len(items):
        lists = f"{printed(patch)}\n doesn't match {SET_ELEMENT_ORDER} list:\n{printed(order)}\n"
        raise _refused(f"The order in patch list:\n{lists}")


class _Merged(NamedTuple):
    items: List
    server_order: List
    """Whose order the items that only the server has keep."""


def _merge_lists(server: List, patch: List, field: _Field, *, deletion: bool = False) -> _Merged:
    if not server and not patch:
        return _Merged(server, server)
    if _type_of_items(server, patch) is dict:
        return _merge_lists_of_maps(server, patch, field)
    if deletion:
        gone = {_identity(item) for item in patch}
        return _Merged([item for item in server if _identity(item) not in gone], server)
    together = list({_identity(item): item for item in [*server, *patch]}.values())
    return _Merged(_in_order(together, patch, server, field.key), server)


def _merge_lists_of_maps(server: List, patch: List, field: _Field) -> _Merged:
    if not field.key:
        raise _refused("cannot merge lists without merge key for struct")
    items = [item for item in patch if PATCH not in item]
    deleted = set()
    replace = False
    for item in patch:
        match item.get(PATCH):
            case "delete":
                deleted.add(_identity(item, field.key))
            case "replace":
                replace = True
            case "merge":
                raise _refused("merging lists cannot yet be specified in the patch")
            case _ if PATCH in item:
                raise _unknown_directive(item)
    kept = [item for item in server if field.key not in item or _identity(item, field.key) not in deleted]
    if replace:
        return _Merged(_in_order(items, [], items, field.key), kept)
    together = list(kept)
    places: dict[Hashable, int] = {}
    for place, item in enumerate(kept):
        if field.key in item:
            places.setdefault(_identity(item, field.key), place)
    for item in items:
        place = places.setdefault(_identity(item, field.key), len(together))
        if place < len(together):
            together[place] = _merge_maps(together[place], item, field.schema)
        else:
            together.append(item)
    # Go puts the first new items where the deleted ones were in memory, and then finds them there when it looks for
    # the server's order; so they come after what only the server has. Without deletions they come before it.
    return _Merged(_in_order(together, items, kept, field.key), together[: len(server)])


def _in_order(items: List, patch_order: List, server_order: List, key: str) -> List:
    """What is in `patch_order` in that order, and the rest between it, where the server had it."""
    patched, served = _places(patch_order, key), _places(server_order, key)
    identities = [_identity(item, key) for item in items]
    pairs = list(zip(identities, items, strict=True))
    last = len(served)
    ours = sorted((pair for pair in pairs if pair[0] in patched), key=lambda pair: patched[pair[0]])
    rest = sorted((pair for pair in pairs if pair[0] not in patched), key=lambda pair: served.get(pair[0], last))
    ordered: List = []
    waiting = 0
    for identity, item in ours:
        before = served.get(identity, 0)
        while waiting < len(rest) and served.get(rest[waiting][0], last) < before:
            ordered.append(rest[waiting][1])
            waiting += 1
        ordered.append(item)
    return ordered + [item for _, item in rest[waiting:]]


def _places(items: List, key: str) -> dict[Hashable, int]:
    places: dict[Hashable, int] = {}
    for item in items:
        places.setdefault(_identity(item, key), len(places))
    return places


def _identity(item: Any, key: str = "") -> Hashable:
    """By what an item is known: its merge key, or itself. For Python alone, 1 would be both true and 1.0."""
    if key:
        _expect(dict, item)
        if key not in item:
            raise _refused(f"map: {printed(item)} does not contain declared merge key: {key}")
        item = item[key]
    return type(item), printed(item) if isinstance(item, dict | list) else item


def _type_of_items(*lists: List) -> type[Any]:
    """The one type that all items have."""
    types = [type(item) for items in lists for item in items]
    if not types:
        raise _refused("no elements in any of the given slices")
    if types[0] is list:
        raise rejected()  # lists of lists can't be merged
    if any(each is not types[0] for each in types):
        raise _refused(f"list element types are not identical: {printed(list(lists))}")
    return types[0]


def _without_directives(value: Any) -> Any:
    """The value without the maps in it that have a $patch: there is nothing that they could be about."""
    if isinstance(value, dict):
        fields = {key: each for key, each in value.items() if not (isinstance(each, dict) and PATCH in each)}
        return {key: _without_directives(each) for key, each in fields.items()}
    if isinstance(value, list):
        return [_without_directives(each) for each in value if not (isinstance(each, dict) and PATCH in each)]
    return value


def _listed(directive: str, prefix: str, what: str) -> str:
    """The list that a directive is about."""
    start, slash, name = directive.partition("/")
    if start != prefix or not slash:
        raise bad_request(f"invalid patch format of {what}")
    return name


def _expect(kind: type[Map | List], value: Any) -> None:
    if not isinstance(value, kind):
        raise _refused(f"expected a {_GO_TYPES[kind]}, but received a {_GO_TYPES[type(value)]}")


def _unknown_directive(patch: Map) -> Failure:
    directive = patch[PATCH]
    text = printed(directive)
    if directive is None:
        text = "%!s(<nil>)"
    elif isinstance(directive, bool | int | float):
        text = f"%!s({_GO_TYPES[type(directive)]}={text})"
    return _refused(f"unknown patch type: {text} in map: {printed(patch)}")


def _refused(message: str) -> Failure:
    return failure(500, "", message)
