"""Semantic versions: `semver(self.version).isGreaterThan(semver('1.2.3'))`."""

import re
from typing import Any

from windvane.api.cel.functions import Functions, member, plain
from windvane.api.cel.types import BOOL, INT, STRING, struct
from windvane.api.cel.values import CelError, Opaque
from windvane.api.wording import quoted

SEMVER = struct("kubernetes.Semver")


class Semver(Opaque):
    """A version; what is behind a plus doesn't count."""

    __slots__ = ("numbers", "prerelease")
    type_name = "kubernetes.Semver"

    def __init__(self, numbers: tuple[int, int, int], prerelease: tuple[int | str, ...]) -> None:
        self.numbers = numbers
        self.prerelease = prerelease

    def same(self, other: Any) -> bool:
        return _compare(self, other) == 0


class VersionError(ValueError):
    """A text that is no version, in the server's words."""


def _parse(text: str) -> Semver:
    if not text:
        raise VersionError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise VersionError("No Major.Minor.Patch elements found")
    major, minor = _number("major", parts[0]), _number("minor", parts[1])
    rest, plus, build = parts[2].partition("+")
    patch_text, dash, prerelease = rest.partition("-")
    patch = _number("patch", patch_text)
    identifiers = tuple(_identifier(each) for each in prerelease.split(".")) if dash else ()
    for each in build.split(".") if plus else ():
        if not each:
            raise VersionError("Build meta data is empty")
        if not re.fullmatch("[0-9A-Za-z-]*", each):
            raise VersionError(f"Invalid character(s) found in build meta data {quoted(each)}")
    return Semver((major, minor, patch), identifiers)


def _number(what: str, text: str) -> int:
    if not re.fullmatch("[0-9]*", text):
        raise VersionError(f"Invalid character(s) found in {what} number {quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise VersionError(f"{what.capitalize()} number must not contain leading zeroes {quoted(text)}")
    if not text:
        raise VersionError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) >= 2**64:
        raise VersionError(f"strconv.ParseUint: parsing {quoted(text)}: value out of range")
    return int(text)


def _identifier(text: str) -> int | str:
    if not text:
        raise VersionError("Prerelease is empty")
    if re.fullmatch("[0-9]+", text):
        if len(text) > 1 and text[0] == "0":
            raise VersionError(f"Numeric PreRelease version must not contain leading zeroes {quoted(text)}")
        if len(text) > 20 or int(text) >= 2**64:
            raise VersionError(f"strconv.ParseUint: parsing {quoted(text)}: value out of range")
        return int(text)
    if not re.fullmatch("[0-9A-Za-z-]+", text):
        raise VersionError(f"Invalid character(s) found in prerelease {quoted(text)}")
    return text


def _normalised(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, each in enumerate(parts):
        if len(each) > 1:
            short = each.lstrip("0")
            parts[index] = short if short[:1].isdigit() else f"0{short}"
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise VersionError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _semver(text: str, normalise: bool = False) -> Semver:
    try:
        return _parse(_normalised(text) if normalise else text)
    except VersionError as error:
        raise CelError(str(error)) from None


def _is_semver(text: str, normalise: bool = False) -> bool:
    try:
        _parse(_normalised(text) if normalise else text)
    except VersionError:
        return False
    return True


def _compare(one: Semver, other: Semver) -> int:
    if one.numbers != other.numbers:
        return 1 if one.numbers > other.numbers else -1
    if not one.prerelease or not other.prerelease:
        return bool(other.prerelease) - bool(one.prerelease)
    for mine, theirs in zip(one.prerelease, other.prerelease, strict=False):
        if mine != theirs:
            # Numbers come before words.
            first = (isinstance(mine, str), mine) if isinstance(mine, type(theirs)) else (isinstance(mine, str),)
            second = (isinstance(theirs, str), theirs) if isinstance(mine, type(theirs)) else (isinstance(theirs, str),)
            return 1 if first > second else -1
    length, others = len(one.prerelease), len(other.prerelease)
    return (length > others) - (length < others)


FUNCTIONS: Functions = {
    "semver": (
        plain("string_to_semver", [STRING], SEMVER, _semver),
        plain("string_bool_to_semver", [STRING, BOOL], SEMVER, _semver),
    ),
    "isSemver": (
        plain("is_semver_string", [STRING], BOOL, _is_semver),
        plain("is_semver_string_bool", [STRING, BOOL], BOOL, _is_semver),
    ),
    "isGreaterThan": (member("semver_is_greater_than", [SEMVER, SEMVER], BOOL, lambda a, b: _compare(a, b) > 0),),
    "isLessThan": (member("semver_is_less_than", [SEMVER, SEMVER], BOOL, lambda a, b: _compare(a, b) < 0),),
    "compareTo": (member("semver_compare_to", [SEMVER, SEMVER], INT, _compare),),
    "major": (member("semver_major", [SEMVER], INT, lambda version: version.numbers[0]),),
    "minor": (member("semver_minor", [SEMVER], INT, lambda version: version.numbers[1]),),
    "patch": (member("semver_patch", [SEMVER], INT, lambda version: version.numbers[2]),),
}
