"""What a namespace asks of its pods, by its labels: a standard to refuse by, one to warn by, and one to note by."""

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
        """Whether pods may do anything, and no look is needed."""
        return all(each.level == "privileged" for each in self[:3]) and not self.problems


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Namespace(msgspec.Struct):
    metadata: _Metadata


@lru_cache(maxsize=1024)
def policy_of_stored(namespace: bytes) -> Policy:
    """The policy of a namespace as it is stored. It seldom changes, and every new pod asks for it."""
    return policy_of(msgspec.json.decode(namespace, type=_Namespace).metadata.labels)


def policy_of(labels: dict[str, str] | None) -> Policy:
    """The policy that labels state. Of what can't be read, the strictest is enforced, and the rest is let be."""
    stated = {key.removeprefix(PREFIX): value for key, value in (labels or {}).items() if key.startswith(PREFIX)}
    if not stated:
        return Policy()
    problems: list[StatusCause] = []
    enforce = _standard(stated, "enforce", "restricted", problems)
    audit = _standard(stated, "audit", "privileged", problems)
    warn = _standard(stated, "warn", "privileged", problems)
    # Who states only what is enforced is also warned by it: of the templates of pods that would be refused.
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
