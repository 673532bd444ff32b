"""Names of drivers, pools, devices and their attributes."""

import re

from windvane.api.names import label_problems, subdomain_problems
from windvane.cluster.apiserver.registry.validation.problems import Problems

LONGEST_DRIVER = 63
LONGEST_POOL = 253
LONGEST_DOMAIN = 63
LONGEST_IDENTIFIER = 32
LONGEST_QUALIFIED_NAME = LONGEST_DOMAIN + 1 + LONGEST_IDENTIFIER
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_NOT_AN_IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    f"or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '{_IDENTIFIER}')"
)


def driver_name(name: str, path: str, problems: Problems) -> None:
    """Check the name of a driver; capitals are allowed."""
    if not name:
        problems.required(path)
        return
    if len(name.encode()) > LONGEST_DRIVER:
        problems.too_long(path, LONGEST_DRIVER)
    problems.all_invalid(path, name, subdomain_problems(name.lower()))


def pool_name(name: str, path: str, problems: Problems) -> None:
    """Check the name of a pool: subdomains with slashes between them."""
    if not name:
        problems.required(path)
        return
    if len(name.encode()) > LONGEST_POOL:
        problems.too_long(path, LONGEST_POOL)
    for part in name.split("/"):
        problems.all_invalid(path, part, subdomain_problems(part))


def label_name(name: str, path: str, problems: Problems) -> None:
    """Check the name of a device, a request or a counter."""
    problems.all_invalid(path, name, label_problems(name))


def class_name(name: str, path: str, problems: Problems) -> None:
    """Check the name of a DeviceClass."""
    if not name:
        problems.required(path)
    else:
        problems.all_invalid(path, name, subdomain_problems(name))


def qualified_name(name: str, path: str, problems: Problems) -> None:
    """Check the name of an attribute or a capacity, with or without a domain; more than one slash is overlooked."""
    parts = name.split("/")
    if len(parts) == 1:
        _identifier(name, path, problems)
    elif len(parts) == 2:
        domain, identifier = parts
        if domain:
            driver_name(domain, path, problems)
        else:
            problems.invalid(path, "", "the domain must not be empty")
        if identifier:
            _identifier(identifier, path, problems)
        else:
            problems.invalid(path, "", "the name must not be empty")


def fully_qualified_name(name: str, path: str, problems: Problems) -> None:
    """Check a name that must have a domain."""
    qualified_name(name, path, problems)
    if "/" not in name:
        problems.invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash")


def _identifier(name: str, path: str, problems: Problems) -> None:
    if len(name.encode()) > LONGEST_IDENTIFIER:
        problems.too_long(path, LONGEST_IDENTIFIER)
    if not re.fullmatch(_IDENTIFIER, name):
        problems.invalid(path, name, _NOT_AN_IDENTIFIER)
