"""Writes YAML as Go's library does."""

from typing import Any

import yaml

_TEXT = "tag:yaml.org,2002:str"
_SIGN = "tag:yaml.org,2002:yaml"  # a sign that means something at the beginning of a value


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Text that would be read as something else has double quotes; what only has strange signs in it, single ones."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        looks_like = self.resolve(yaml.ScalarNode, text, (True, False))
        return yaml.ScalarNode(_TEXT, text, style=None if looks_like in (_TEXT, _SIGN) else '"')


_Dumper.add_representer(str, _Dumper.represent_text)


def to_yaml(value: Any, *, sort: bool) -> str:
    """A value of JSON as YAML, its fields sorted or in the order that they have."""
    written: str = yaml.dump(value, Dumper=_Dumper, default_flow_style=False, sort_keys=sort)
    return written.removesuffix("...\n")
