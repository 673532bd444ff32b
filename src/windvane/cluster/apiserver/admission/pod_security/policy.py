"""The pod security policy of a namespace, from its labels: the standards to enforce, to warn about and to audit."""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from windvane.api.status import StatusCause
from windvane.api.wording import invalid

Level = Literal["privileged", "baseline", "restricted"]
LEVELS: tuple[Level, ...] = ("privileged", "baseline", "restricted")
"""From the one that allows everything to the one that allows least."""
PREFIX = "pod-security.kubernetes.io/"
VERSION = re.compile(r"v1\.([0-9]|[1-9][0-9]*)")
LARGEST = 2**63 - 1


class Standard(NamedTuple):
    """A level as it was in some version of Kubernetes, 1.`minor`; None means the latest."""

    level: Level = "privileged"
    minor: int | None = None

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.minor is None else f'v1.{self.minor}'}"

    def is_stricter_than(self, other: "Standard") -> bool:
        """Whether its level is; versions can't be compared like that."""
        return LEVELS.index(self.level) > LEVELS.index(other.level)


class Policy(NamedTuple):
    """The standards of one namespace."""

    enforce: Standard = Standard()
    audit: Standard = Standard()
    warn: Standard = Standard()
    problems: tuple[StatusCause, ...] = ()
    """Labels that can't be read."""

    @property
    def is_privileged(self) -> bool:
        """Whether all standards are privileged, so that nothing is checked."""
        return all(each.level == "privileged" for each in self[:3]) and not self.problems


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Namespace(msgspec.Struct):
    metadata: _Metadata


@lru_cache(maxsize=1024)
def policy_of_stored(namespace: bytes) -> Policy:
    """The policy of a stored namespace. It seldom changes, and every new pod needs it."""
    return policy_of(msgspec.json.decode(namespace, type=_Namespace).metadata.labels)


def policy_of(labels: dict[str, str] | None) -> Policy:
    """The policy in labels. If `enforce` is invalid, the strictest standard is enforced; others are ignored."""
    stated = {key.removeprefix(PREFIX): value for key, value in (labels or {}).items() if key.startswith(PREFIX)}
    if not stated:
        return Policy()
    problems: list[StatusCause] = []
    enforce = _standard(stated, "enforce", "restricted", problems)
    audit = _standard(stated, "audit", "privileged", problems)
    warn = _standard(stated, "warn", "privileged", problems)
    # Without a label for warnings, the enforced standard is also warned about: it concerns templates.
    if "warn" not in stated and stated.get("enforce") in LEVELS and enforce.is_stricter_than(warn):
        warn = Standard(enforce.level, warn.minor if "warn-version" in stated else enforce.minor)
    return Policy(enforce, audit, warn, tuple(problems))


def _standard(stated: dict[str, str], mode: str, otherwise: Level, problems: list[StatusCause]) -> Standard:
    level: Level = "privileged"
    if (word := stated.get(mode)) is not None:
        level = next((each for each in LEVELS if each == word), otherwise)
        if level != word:
            problems.append(_problem(mode, word, f"must be one of {', '.join(LEVELS)}"))
    version = stated.get(f"{mode}-version", "latest")
    match = VERSION.fullmatch(version)
    minor = int(match[1]) if match and int(match[1]) <= LARGEST else None
    if minor is None and version != "latest":
        problems.append(_problem(f"{mode}-version", version, 'must be "latest" or "v1.x"'))
    return Standard(level, minor)


def _problem(label: str, value: str, why: str) -> StatusCause:
    return invalid(f"metadata.labels[{PREFIX}{label}]", value, why)
