"""Formats with names: `format.dns1123Label().validate(self.name)`, `format.named('uuid')`."""

from collections.abc import Callable
from typing import Any

from windvane.api.cel.functions import Functions, member, plain
from windvane.api.cel.library.urls import URLError, parse_url
from windvane.api.cel.types import STRING, list_of, optional_of, struct
from windvane.api.cel.values import NONE, Opaque, Optional
from windvane.api.names import (
    label_key_problems,
    label_problems,
    label_value_problems,
    service_name_problems,
    subdomain_problems,
)
from windvane.api.openapi.formats import has_format

FORMAT = struct("kubernetes.NamedFormat")
Problems = Callable[[str], list[str]]


class NamedFormat(Opaque):
    """A format; `pattern_size` is how long its regular expression is taken to be, which is what it costs."""

    __slots__ = ("name", "pattern_size", "problems")
    type_name = "kubernetes.NamedFormat"

    def __init__(self, name: str, pattern_size: int, problems: Problems) -> None:
        self.name = name
        self.pattern_size = pattern_size
        self.problems = problems

    def same(self, other: Any) -> bool:
        return bool(self.name == other.name)


def _as_prefix(problems: Problems) -> Problems:
    """The same for the start of a name, which may end with a dash."""
    return lambda text: problems(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


def _formatted(name: str, otherwise: str) -> Problems:
    return lambda text: [] if has_format(text, name) else [otherwise]


def _uri(text: str) -> list[str]:
    try:
        parse_url(text)
    except URLError as error:
        return [str(error)]
    return []


FORMATS = {
    "dns1123Label": NamedFormat("DNS1123Label", 30, label_problems),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", 60, subdomain_problems),
    "dns1035Label": NamedFormat("DNS1035Label", 30, service_name_problems),
    "qualifiedName": NamedFormat("QualifiedName", 60, label_key_problems),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", 30, _as_prefix(label_problems)),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", 60, _as_prefix(subdomain_problems)),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", 30, _as_prefix(service_name_problems)),
    "labelValue": NamedFormat("LabelValue", 40, label_value_problems),
    "uri": NamedFormat("URI", 1103, _uri),
    "uuid": NamedFormat("uuid", 72, _formatted("uuid", "does not match the UUID format")),
    "byte": NamedFormat("byte", 84, _formatted("byte", "invalid base64")),
    "date": NamedFormat("date", 78, _formatted("date", "invalid date")),
    "datetime": NamedFormat("datetime", 78, _formatted("datetime", "invalid datetime")),
}


def _validate(format_: NamedFormat, text: str) -> Optional:
    problems = format_.problems(text)
    return Optional(problems) if problems else NONE


def _named(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


def _constant(format_: NamedFormat) -> Callable[[], NamedFormat]:
    return lambda: format_


FUNCTIONS: Functions = {
    "validate": (member("format-validate", [FORMAT, STRING], optional_of(list_of(STRING)), _validate),),
    "format.named": (plain("format-named", [STRING], optional_of(FORMAT), _named),),
    **{f"format.{name}": (plain(f"format.{name}", [], FORMAT, _constant(each)),) for name, each in FORMATS.items()},
}
