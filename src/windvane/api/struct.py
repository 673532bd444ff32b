"""Structs: typed records whose fields are `snake_case` in Python and exactly Kubernetes' on the wire.

    class Storage(Struct):
        size: Quantity
        class_name: str | None = None      # "className" on the wire; not sent while it is None
        cluster_ip: str | None = None      # "clusterIP": the initialisms that Kubernetes writes in capitals
        lun: int = field(name="LUN")       # any other name

All arguments are keywords. A field that still has its default is not sent.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast, dataclass_transform

import msgspec
from msgspec import field

if TYPE_CHECKING:
    from windvane.api.custom_resources.rules import FieldCount, Rule

__all__ = ["Spec", "Struct", "field", "wire_name"]

# Words that Kubernetes' API conventions write in capitals when they are not the first word of a name.
INITIALISMS: Mapping[str, str] = MappingProxyType(
    {
        word.lower(): word
        for word in (
            "CIDR", "CIDRs", "FQDN", "ID", "IDs", "IP", "IPs", "IPC", "PID", "TLS", "UID", "UIDs",
            "URI", "URIs", "URL", "URLs", "UUID",
        )
    }
)  # fmt: skip


def wire_name(python_name: str) -> str:
    """The JSON name of a Python field: `cluster_ips` → `clusterIPs`, `from_` → `from`."""
    first, *rest = python_name.rstrip("_").split("_")
    return first + "".join(INITIALISMS.get(word, word.capitalize()) for word in rest)


class StructType(msgspec.StructMeta):
    """The class of struct classes: takes `rules=` and `atomic=` and refuses defaults that would be shared."""

    __rules__: tuple["Rule | FieldCount", ...]
    __atomic__: bool

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        rules: Sequence["Rule | FieldCount"] = (),
        atomic: bool = False,
        **options: Any,
    ) -> "StructType":
        annotations = namespace.get("__annotations__", {})
        for key, default in namespace.items():
            if isinstance(default, msgspec.Struct) and "ClassVar" not in str(annotations.get(key)):
                shared = type(default).__name__
                raise TypeError(
                    f"{name}.{key}: one {shared} as the default would be shared by every {name}; "
                    f"write field(default_factory={shared})"
                )
        if not isinstance(rules, list | tuple):
            raise TypeError(f"{name}: rules={rules!r} is no list; write rules=[...]")
        # msgspec does not inherit kw_only; every struct class must say it again.
        options.setdefault("kw_only", True)
        cls = super().__new__(mcls, name, bases, namespace, **options)
        cls.__rules__ = tuple(rules)
        cls.__atomic__ = atomic
        # Ours are a thousand, most of them generated, and have tests.
        if not cls.__module__.startswith("windvane."):
            mcls.check(cls)
        return cls

    @staticmethod
    def check(made: "StructType") -> None:
        """TypeError that names the class, the field and the remedy, if a marker, a default or a rule can't work."""
        from windvane.api.custom_resources.class_checks import check_struct

        check_struct(cast(type[msgspec.Struct], made))


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Struct(msgspec.Struct, metaclass=StructType, rename=wire_name, omit_defaults=True, repr_omit_defaults=True):
    """A typed record: the building block of specs, statuses and every built-in kind.

    `rules` are CEL rules (or ExactlyOneOf and the like) that the API server checks; `atomic` says that
    server-side apply treats the struct as one value instead of field by field.
    """


class Spec(Struct):
    """What the user wants: the `spec` of a resource."""
