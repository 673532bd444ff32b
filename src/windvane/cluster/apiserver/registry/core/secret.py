"""The strategy of Secret."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping

from windvane.api.json_value import Wire
from windvane.api.names import config_key_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, count, field
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.config_map import LIMIT, sealed
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

ACCOUNT = "kubernetes.io/service-account.name"
# What a secret of a certain type must hold.
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
REDACTED = "<secret contents redacted>"


class SecretStrategy(BuiltinStrategy):
    model = core.Secret
    checks_metadata_again = True
    selectable_fields = ("type",)
    defaults = {"type": "Opaque"}
    columns = (NAME, Column("Type", field("type")), Column("Data", count("data")), AGE)
    column_fields = {"Type": "core.v1.Secret.type", "Data": "core.v1.Secret.data"}

    def set_defaults(self, obj: Wire) -> None:
        for key, text in obj.pop("stringData", {}).items():
            obj.setdefault("data", {})[key] = b64encode(text.encode()).decode()

    def validate(self, obj: Wire, problems: Problems) -> None:
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

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        if obj.get("type") != old.get("type"):
            problems.immutable("type", obj.get("type"), old.get("type"))
        sealed(obj, old, ("data",), problems)

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        if obj.get("type") != "kubernetes.io/tls":
            return
        from windvane.cluster.apiserver.registry.core.tls_key_pair import key_pair_problem

        certificate, key = (b64decode((obj.get("data") or {}).get(name) or "") for name in ("tls.crt", "tls.key"))
        if problem := key_pair_problem(certificate, key):
            yield problem


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
