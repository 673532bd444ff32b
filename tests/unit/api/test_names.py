"""The rules for names, in the API server's own words."""

from collections.abc import Callable

import pytest

from windvane import ambient
from windvane.api import names

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SERVICE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
KEY = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
CONFIG_KEY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)


@pytest.mark.parametrize(
    ("check", "value", "problems"),
    [
        (names.subdomain_problems, "web.example.com", []),
        (names.subdomain_problems, "Web", [SUBDOMAIN]),
        (names.subdomain_problems, "web\n", [SUBDOMAIN]),
        (names.subdomain_problems, "a" * 254, ["must be no more than 253 characters"]),
        (names.label_problems, "web-1", []),
        (names.label_problems, "a.b", ["must not contain dots"]),
        (names.label_problems, "-web", [LABEL]),
        (names.label_problems, "a" * 64, ["must be no more than 63 characters"]),
        (names.service_name_problems, "web-1", []),
        (names.service_name_problems, "1-web", [SERVICE]),
        (names.path_segment_problems, "system:node", []),
        (names.path_segment_problems, "..", ["may not be '..'"]),
        (names.path_segment_problems, "a/b%", ["may not contain '/'", "may not contain '%'"]),
        (names.label_key_problems, "example.com/App_1", []),
        (names.label_key_problems, "", ["name part must be non-empty", f"name part {KEY}"]),
        (names.label_key_problems, "/a", ["prefix part must be non-empty"]),
        (names.label_key_problems, "E.com/a", [f"prefix part {SUBDOMAIN}"]),
        (names.label_key_problems, "a" * 64, ["name part must be no more than 63 bytes"]),
        (
            names.label_key_problems,
            "a/b/c",
            [f"a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"],
        ),
        (names.annotation_key_problems, "Example.com/App", []),
        (names.label_value_problems, "", []),
        (names.label_value_problems, "-a", [LABEL_VALUE]),
        (names.label_value_problems, "é" * 32, ["must be no more than 63 bytes", LABEL_VALUE]),
        (names.config_key_problems, "tls.crt", []),
        (names.config_key_problems, "a b", [CONFIG_KEY]),
        (names.config_key_problems, ".", ["must not be '.'"]),
        (names.config_key_problems, "..a", ["must not start with '..'"]),
        (names.port_name_problems, "http", []),
        (
            names.port_name_problems,
            "-8--_-",
            [
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                "must contain at least one letter (a-z)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ],
        ),
        (names.port_name_problems, "a" * 16, ["must be no more than 15 characters"]),
    ],
)
def test_problems_are_in_the_words_of_the_api_server(
    check: Callable[[str], list[str]], value: str, problems: list[str]
) -> None:
    assert check(value) == problems


@pytest.mark.parametrize(("port", "fine"), [(0, False), (1, True), (65535, True), (65536, False)])
def test_ports_have_a_range(port: int, fine: bool) -> None:
    assert names.port_number_problems(port) == ([] if fine else ["must be between 1 and 65535, inclusive"])


def test_a_generated_name_is_the_base_and_five_characters() -> None:
    name = names.generate_name("web-")
    assert name.startswith("web-")
    assert len(name) == 9
    assert set(name[4:]) <= set(ambient.SAFE_ALPHABET)


def test_a_long_base_is_cut_so_that_the_name_still_fits() -> None:
    assert len(names.generate_name("a" * 300)) == 63
