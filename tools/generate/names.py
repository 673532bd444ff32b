"""Python's names for Kubernetes' fields: `podCIDRs` → `pod_cidrs`, `$ref` → `ref`."""

import keyword
import re

# `IPs` is one word, and so is `V1` in `fieldsV1`; the last capital of `IPFamily` starts the next word.
WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+")

# What annotations and defaults of the same class say, and would then find the field instead of the type.
TAKEN = frozenset({"bool", "bytes", "dict", "field", "float", "int", "list", "str"})

ODD = {"openAPIV3Schema": "open_api_v3_schema"}


def python_name(wire: str) -> str:
    """The snake_case name of a field; a keyword gets an underscore, `from` → `from_`."""
    name = ODD.get(wire) or "_".join(WORD.findall(wire)).lower()
    return f"{name}_" if keyword.iskeyword(name) or name in TAKEN else name
