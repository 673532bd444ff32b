"""The string formats that the API server checks in custom resources; any other `format` means nothing to it.

They are what Go's libraries accept, which is not always what the format's name says: an `ipv4` may have leading
zeros, a `byte` can't be empty, a `duration` may be "3 weeks".
"""

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from types import MappingProxyType

from windvane.api.openapi.patterns import Pattern, pattern

_HOSTNAME = (
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)"
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
)
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_COLOR = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*"
_CARD = (
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}"
)
_SECONDS = r"\d{2}:\d{2}:\d{2}"
_GO_DURATION = r"[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)"
_UNITS = ("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_UNIT_STEMS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_ATOM = r"[\w!#$%&'*+/=?^`{|}~\u0080-\U0010ffff-]+"
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f]|\\.)*"'
_DOT_ATOM = rf"{_ATOM}(?:\.{_ATOM})*"
_ADDRESS = rf"(?:{_DOT_ATOM}|{_QUOTED})@(?:{_DOT_ATOM}|\[[\x21-\x5a\x5e-\x7e]*\])"
_EMAIL = rf"\s*(?:{_ADDRESS}|(?:(?:{_QUOTED}|{_ATOM}|\.)\s*)*<{_ADDRESS}>)\s*(?:\([^()]*\)\s*)?"
_LONGEST = 1000  # bounds the cost of the expressions that could backtrack
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_HOST = re.compile(r"""(?:\[[^\]]*\]|(?:[\w.~!$&'()*+,;=<>"-]|[^\x00-\x7f]|%[89A-Fa-f][0-9A-Fa-f])*?)(?::\d*)?""")


@cache
def _hostname() -> Pattern:
    """Made when first needed: it takes longer than all the rest of the server's start."""
    return pattern(_HOSTNAME)


def _matches(text: str) -> Callable[[str], bool]:
    """Compiled when first used, and kept by `re`: a server starts sooner without formats that are not used."""
    return lambda value: re.fullmatch(text, value, re.ASCII) is not None


def _is_hostname(value: str) -> bool:
    if len(value.encode()) > 255 or any(len(label.encode()) > 63 for label in value.split(".")):
        return False
    return _hostname().found_in(value)


def _is_uri(value: str) -> bool:
    """What a request line can have: a path from the root, or something with a scheme."""
    if not value or re.search(r"[\x00-\x1f\x7f]", value):
        return False
    scheme = _SCHEME.match(value)
    rest = value[scheme.end() :] if scheme else value
    rest = rest.partition("?")[0]
    if value == "*" or (scheme and not rest.startswith("/")):
        return True
    if not rest.startswith("/"):
        return False
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        user, _, host = authority.rpartition("@")
        rest = slash + path
        if not re.fullmatch(r"[\w.~!$&'()*+,;=:%-]*", user, re.ASCII) or _BAD_ESCAPE.search(user):
            return False
        if not _HOST.fullmatch(host):
            return False
    return not _BAD_ESCAPE.search(rest)


def _ip(value: str) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return "%" not in value


def _without_zeros(value: str) -> str:
    """An address without the leading zeros that Go once allowed in IPv4 addresses, and Kubernetes still does."""
    return re.sub(r"(^|\.|:)0+(?=\d+(\.|$))", r"\1", value) if "." in value else value


def _is_cidr(value: str) -> bool:
    address, slash, bits = value.partition("/")
    most = 32 if ":" not in address else 128
    return bool(slash) and _ip(_without_zeros(address)) and bool(re.fullmatch("[0-9]{1,3}", bits)) and int(bits) <= most


def _is_date(value: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII)) and bool(date.fromisoformat(value))
    except ValueError:
        # Go knows the year 0, Python doesn't.
        return value.startswith("0000-") and _is_date(f"2000{value[4:]}")


def _is_date_time(value: str) -> bool:
    day, _, rest = value.lower().partition("t")
    time = re.match(rf"({_SECONDS})(?:.\d+)?(?:z|[+-]\d\d:\d\d)$", rest.partition("t")[0], re.ASCII)
    if not time or not _is_date(day):
        return False
    hours, minutes, seconds = time[1].split(":")
    return hours <= "23" and minutes <= "59" and seconds <= "59"


def _is_duration(value: str) -> bool:
    """As Go writes it, or with units in words; then what is between the parts doesn't matter."""
    if len(value) > _LONGEST:
        return False
    parts = re.findall(r"([0-9]+)\s*([A-Za-zµ]+)", value, re.ASCII)
    if any(len(number) > 18 for number, _ in parts):
        return False
    if re.fullmatch(_GO_DURATION, value, re.ASCII):
        return True
    return any(unit.lower() in _UNITS or unit.lower().startswith(_UNIT_STEMS) for _, unit in parts)


def _is_mac(value: str) -> bool:
    pairs, quads = "[0-9A-Fa-f]{2}", "[0-9A-Fa-f]{4}"
    return re.fullmatch("[0-9A-Fa-f]{12}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40}", value) is not None or any(
        re.fullmatch(rf"{part}(?:{sign}{part}){{{count}}}", value)
        for part, sign, counts in ((pairs, ":", (5, 7, 19)), (pairs, "-", (5, 7, 19)), (quads, r"\.", (2, 3, 9)))
        for count in counts
    )


def _is_isbn10(value: str) -> bool:
    digits = re.sub(r"[\s-]+", "", value)
    if not re.fullmatch("[0-9]{9}[0-9X]", digits):
        return False
    return sum((i + 1) * (10 if digit == "X" else int(digit)) for i, digit in enumerate(digits)) % 11 == 0


def _is_isbn13(value: str) -> bool:
    digits = re.sub(r"[\s-]+", "", value)
    if not re.fullmatch("[0-9]{13}", digits):
        return False
    return sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(digits)) % 10 == 0


def _is_credit_card(value: str) -> bool:
    digits = re.sub("[^0-9]+", "", value)
    if not re.fullmatch(_CARD, digits):
        return False
    doubled = [int(digit) * (1 + i % 2) for i, digit in enumerate(reversed(digits))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0


def _uuid(third: str, fourth: str) -> Callable[[str], bool]:
    return _matches(f"(?i)[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}")


FORMATS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "bsonobjectid": _matches("[0-9A-Fa-f]{24}"),
        "byte": _matches("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
        "cidr": _is_cidr,
        "creditcard": _is_credit_card,
        "date": _is_date,
        "datetime": _is_date_time,
        "duration": _is_duration,
        "email": lambda value: len(value) <= _LONGEST and re.fullmatch(_EMAIL, value) is not None,
        "hexcolor": _matches("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
        "hostname": _is_hostname,
        "ipv4": lambda value: "." in value and _ip(_without_zeros(value)),
        "ipv6": lambda value: ":" in value and _ip(value),
        "isbn": lambda value: _is_isbn10(value) or _is_isbn13(value),
        "isbn10": _is_isbn10,
        "isbn13": _is_isbn13,
        "k8sshortname": lambda value: len(value) <= 63 and re.fullmatch(_LABEL, value) is not None,
        "k8slongname": lambda value: len(value) <= 253 and re.fullmatch(rf"{_LABEL}(\.{_LABEL})*", value) is not None,
        "mac": _is_mac,
        "password": lambda _: True,
        "rgbcolor": _matches(rf"rgb\({_COLOR},{_COLOR},{_COLOR}\)"),
        "ssn": lambda value: (
            len(value) == 11 and re.fullmatch(r"\d{3}[- ]?\d{2}[- ]?\d{4}", value, re.ASCII) is not None
        ),
        "uri": _is_uri,
        "uuid": _uuid("[0-9a-f]{4}", "[0-9a-f]{4}"),
        "uuid3": _uuid("3[0-9a-f]{3}", "[0-9a-f]{4}"),
        "uuid4": _uuid("4[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
        "uuid5": _uuid("5[0-9a-f]{3}", "[89ab][0-9a-f]{3}"),
    }
)


def known_format(schema_type: str, name: str) -> str:
    """The format if the server heeds it for that type, else nothing."""
    if schema_type in ("", "string"):
        known = name.replace("-", "") in FORMATS
    else:
        known = name in {"integer": ("int32", "int64"), "number": ("float", "double")}.get(schema_type, ())
    return name if known else ""


def has_format(value: str, name: str) -> bool:
    """Whether a string is of a known format."""
    return FORMATS[name.replace("-", "")](value)
