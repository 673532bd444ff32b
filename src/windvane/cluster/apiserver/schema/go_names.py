"""Go's names for the types of some fields, which its decoder's messages use.

An enumerated field has a type of its own in Go, and some structs embed others.
"""

from collections.abc import Mapping

import msgspec

from windvane.api.meta import ObjectMeta
from windvane.cluster.apiserver.schema import go_types

WORD_TYPES: Mapping[str, str] = {**go_types.WORD_TYPES, "AdmissionResponse.uid": "types.UID"}
"""From `PodSpec.restartPolicy` to `v1.RestartPolicy`; for a list or a map it is the type of what is in it."""

WHOLE_TYPES: Mapping[str, str] = go_types.WHOLE_TYPES
"""The types of lists and maps that can't be told from what is in them."""

_FOLDED_IN: Mapping[str, str] = {
    **go_types.FOLDED_IN,
    **dict.fromkeys(("PersistentVolumeClaim.apiVersion", "PersistentVolumeClaim.kind"), "TypeMeta"),
}


def folded_in(field: str) -> str:
    """The struct whose fields are folded in where this field is, if it is one of them; messages name it in the path."""
    return _FOLDED_IN.get(field, "")


def struct_name(cls: type[msgspec.Struct], version: str) -> str:
    """The name of a struct with that of its package, which in Kubernetes is the version of its group."""
    package = "v1" if issubclass(cls, ObjectMeta) or cls.__module__.endswith((".core", ".meta")) else version
    return f"{package}.{cls.__name__}"
