"""Rules for what ConfigMap and Secret share: a limit to their data, which may be immutable."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.validation.problems import Problems, same

LIMIT = 1024 * 1024
SEALED = "field is immutable when `immutable` is set"


def sealed(obj: Wire, old: Wire, fields: tuple[str, ...], problems: Problems) -> None:
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        problems.forbidden("immutable", SEALED)
    for field in fields:
        if not same(obj.get(field) or None, old.get(field) or None):
            problems.forbidden(field, SEALED)
