"""The strategy of ConfigMap."""

from base64 import b64decode

from windvane.api.json_value import Wire
from windvane.api.names import config_key_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, count
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems, same
from windvane.k8s import core

LIMIT = 1024 * 1024
SEALED = "field is immutable when `immutable` is set"


class ConfigMapStrategy(BuiltinStrategy):
    model = core.ConfigMap
    checks_metadata_again = True
    columns = (NAME, Column("Data", count("data", "binaryData")), AGE)
    column_fields = {"Data": "core.v1.ConfigMap.data"}

    def validate(self, obj: Wire, problems: Problems) -> None:
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

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        sealed(obj, old, ("data", "binaryData"), problems)


def sealed(obj: Wire, old: Wire, fields: tuple[str, ...], problems: Problems) -> None:
    """Check that data stays as it is, once it is immutable."""
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        problems.forbidden("immutable", SEALED)
    for field in fields:
        if not same(obj.get(field) or None, old.get(field) or None):
            problems.forbidden(field, SEALED)
