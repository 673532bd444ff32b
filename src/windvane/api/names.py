"""What names, labels and ports may look like, in the exact words of the API server.

Each function returns what is wrong with a value, as a list of sentences; an empty list means that it is fine.
Users know these sentences from real clusters and search for them, so they are Kubernetes' own, to the letter.
Lengths are counted in bytes, even where the sentence says characters.
"""

import re

from windvane import ambient

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_SERVICE = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_QUALIFIED})?"
LABEL_KEY_PATTERN = rf"^({_SUBDOMAIN}/)?{_QUALIFIED}$"
LABEL_KEY_SIZES = "^([^/]{1,253}/)?[^/]{1,63}$"
LABEL_VALUE_PATTERN = f"^{_LABEL_VALUE}$"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"

_ALPHANUMERIC_ENDS = "and must start and end with an alphanumeric character"

# The longest name that may get five more characters and still be a DNS label.
_LONGEST_GENERATED_BASE = 58


def subdomain_problems(value: str) -> list[str]:
    """What is wrong with a DNS subdomain (RFC 1123), the name of most kinds of objects."""
    return _too_long(value, 253, "characters") + _subdomain_shape_problems(value)


def label_problems(value: str) -> list[str]:
    """What is wrong with a DNS label (RFC 1123), the name of namespaces, containers and volumes."""
    problems = _too_long(value, 63, "characters")
    if not re.fullmatch(_LABEL, value):
        if re.fullmatch(_SUBDOMAIN, value):
            problems.append("must not contain dots")
        else:
            rule = (
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
                + _ALPHANUMERIC_ENDS
            )
            problems.append(_wrong_shape(rule, _LABEL, "my-name", "123-abc"))
    return problems


def service_name_problems(value: str) -> list[str]:
    """What is wrong with a DNS label (RFC 1035), the name of Services: it can't start with a digit."""
    problems = _too_long(value, 63, "characters")
    if not re.fullmatch(_SERVICE, value):
        rule = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
            "start with an alphabetic character, and end with an alphanumeric character"
        )
        problems.append(_wrong_shape(rule, _SERVICE, "my-name", "abc-123"))
    return problems


def path_segment_problems(value: str) -> list[str]:
    """What is wrong with a name that need only fit into a URL, such as that of a Role."""
    if value in (".", ".."):
        return [f"may not be '{value}'"]
    return [f"may not contain '{character}'" for character in "/%" if character in value]


def label_key_problems(value: str) -> list[str]:
    """What is wrong with the key of a label or taint, or with a finalizer: `app` or `example.com/app`."""
    *prefixes, name = value.split("/")
    if len(prefixes) > 1:
        prefix_rule = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_wrong_label_key_shape()} {prefix_rule}"]
    problems = []
    for prefix in prefixes:
        shape = _subdomain_shape_problems(prefix) if prefix else []
        problems += [f"prefix part {problem}" for problem in _wrong_length(prefix, 253) + shape]
    shape = [] if re.fullmatch(_QUALIFIED, name) else [_wrong_label_key_shape()]
    return problems + [f"name part {problem}" for problem in _wrong_length(name, 63) + shape]


def annotation_key_problems(value: str) -> list[str]:
    """What is wrong with the key of an annotation: the rules for label keys, but capitals are fine everywhere."""
    return label_key_problems(value.lower())


def label_value_problems(value: str) -> list[str]:
    """What is wrong with the value of a label."""
    problems = _too_long(value, 63, "bytes")
    if not re.fullmatch(_LABEL_VALUE, value):
        rule = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
            + _ALPHANUMERIC_ENDS
        )
        problems.append(_wrong_shape(rule, _LABEL_VALUE, "MyValue", "my_value", "12345"))
    return problems


def config_key_problems(value: str) -> list[str]:
    """What is wrong with a key in the data of a ConfigMap or Secret."""
    problems = _too_long(value, 253, "characters")
    if not re.fullmatch(_CONFIG_KEY, value):
        rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        problems.append(_wrong_shape(rule, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    # The key becomes the name of a file in a volume, which must not lead out of it.
    if value in (".", ".."):
        problems.append(f"must not be '{value}'")
    elif value.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def port_name_problems(value: str) -> list[str]:
    """What is wrong with the name of a container's port."""
    problems = _too_long(value, 15, "characters")
    if not re.fullmatch("[-a-z0-9]+", value):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        problems.append("must contain at least one letter (a-z)")
    if "--" in value:
        problems.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def port_number_problems(value: int) -> list[str]:
    """What is wrong with the number of a port."""
    return [] if 1 <= value <= 65535 else ["must be between 1 and 65535, inclusive"]


def generate_name(base: str) -> str:
    """A fresh name for an object that asks for one with `metadata.generateName`."""
    return base.encode()[:_LONGEST_GENERATED_BASE].decode(errors="ignore") + ambient.token(5)


def _too_long(value: str, limit: int, unit: str) -> list[str]:
    return [f"must be no more than {limit} {unit}"] if len(value.encode(errors="replace")) > limit else []


def _wrong_length(value: str, limit: int) -> list[str]:
    return _too_long(value, limit, "bytes") if value else ["must be non-empty"]


def _subdomain_shape_problems(value: str) -> list[str]:
    if re.fullmatch(_SUBDOMAIN, value):
        return []
    rule = (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
        + _ALPHANUMERIC_ENDS
    )
    return [_wrong_shape(rule, _SUBDOMAIN, "example.com")]


def _wrong_label_key_shape() -> str:
    rule = f"must consist of alphanumeric characters, '-', '_' or '.', {_ALPHANUMERIC_ENDS}"
    return _wrong_shape(rule, _QUALIFIED, "MyName", "my.name", "123-abc")


def _wrong_shape(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"
