"""The descriptions of kinds and fields from Kubernetes' own API documentation.

They are in a file that `tools/documentation.py` makes when windvane is built or installed: the repository has no copy.
"""

import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

FILE = Path(__file__).with_name("documentation.json.z")


class FieldDocumentation(msgspec.Struct, frozen=True):
    """The documentation of one field."""

    description: str = ""


class DefinitionDocumentation(msgspec.Struct, frozen=True):
    """The documentation of one definition, such as `io.k8s.api.core.v1.ConfigMap`."""

    description: str = ""
    required: list[str] = []
    properties: dict[str, FieldDocumentation] = {}


UNDOCUMENTED = DefinitionDocumentation()


@cache
def documentation() -> Mapping[str, DefinitionDocumentation]:
    """All definitions by name, loaded when they are first needed."""
    if not FILE.exists():  # a checkout that was not installed
        return {}
    return msgspec.json.decode(zlib.decompress(FILE.read_bytes()), type=dict[str, DefinitionDocumentation])


def field_description(field: str) -> str:
    """The description of a field such as `io.k8s.api.core.v1.ConfigMap.data`; empty if there is none."""
    definition, _, name = field.rpartition(".")
    about = documentation().get(definition, UNDOCUMENTED).properties.get(name)
    return about.description if about else ""
