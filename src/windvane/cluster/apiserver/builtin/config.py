"""Rules for ConfigMap and Secret."""

import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from windvane.api.names import config_key_problems
from windvane.cluster.apiserver.builtin.problems import Problems, same

Json = dict[str, Any]

LIMIT = 1024 * 1024
SEALED = "field is immutable when `immutable` is set"
ACCOUNT = "kubernetes.io/service-account.name"
# What a secret of a certain type must hold.
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
REDACTED = "<secret contents redacted>"


def config_map(obj: Json, problems: Problems) -> None:
    """Check a ConfigMap."""
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    total = 0
    for key, value in data.items():
        problems.all_invalid(f"data[{key}]", key, config_key_problems(key))
        if key in binary:
            problems.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
        total += len(value.encode())
    for key, value in binary.items():
        problems.all_invalid(f"binaryData[{key}]", key, config_key_problems(key))
        total += len(b64decode(value))
    if total > LIMIT:
        problems.too_long("[]", LIMIT)


def changed_config_map(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a sealed ConfigMap stays as it is."""
    _sealed(obj, old, ("data", "binaryData"), problems)


def secret(obj: Json, problems: Problems) -> None:
    """Check a Secret."""
    data, kind = obj.get("data") or {}, obj.get("type", "")
    for key in data:
        problems.all_invalid(f"data[{key}]", key, config_key_problems(key))
    if sum(len(b64decode(value)) for value in data.values()) > LIMIT:
        problems.too_long("data", LIMIT)
    account = (obj["metadata"].get("annotations") or {}).get(ACCOUNT)
    if kind == "kubernetes.io/service-account-token" and not account:
        problems.required(f"metadata.annotations[{ACCOUNT}]")
    if kind == "kubernetes.io/basic-auth" and "username" not in data and "password" not in data:
        problems.required("data[username]")
        problems.required("data[password]")
    for key in _REQUIRED.get(kind, ()):
        if key not in data:
            problems.required(f"data[{key}]")
        elif key.startswith(".docker") and (problem := _json_problem(b64decode(data[key]))):
            problems.invalid(f"data[{key}]", REDACTED, problem)


def changed_secret(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a Secret's type stays, and a sealed one altogether."""
    if obj.get("type") != old.get("type"):
        problems.immutable("type", obj.get("type"), old.get("type"))
    _sealed(obj, old, ("data",), problems)


def _sealed(obj: Json, old: Json, fields: tuple[str, ...], problems: Problems) -> None:
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        problems.forbidden("immutable", SEALED)
    for field in fields:
        if not same(obj.get(field) or None, old.get(field) or None):
            problems.forbidden(field, SEALED)


def _json_problem(data: bytes) -> str:
    """What Go says about text that should be a JSON object."""
    text = data.decode(errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        return (
            f"invalid character '{text.lstrip()[0]}' looking for beginning of value"
            if text.strip()
            else "unexpected end of JSON input"
        )
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}
    words = names.get(type(found))
    return f"json: cannot unmarshal {words} into Go value of type map[string]interface {{}}" if words else ""
