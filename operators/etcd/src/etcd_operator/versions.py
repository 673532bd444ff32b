"""etcd's versions: how one is read, and which may follow another."""

from typing import NamedTuple, Self

OLDEST = (3, 4, 0)
"""The first that has learners, with which members are added here."""


class Version(NamedTuple):
    """Three numbers, compared as such: 3.10.0 comes after 3.9.0."""

    major: int
    minor: int
    patch: int

    @classmethod
    def of(cls, text: str) -> Self:
        """What "3.5.1" means."""
        numbers = text.removeprefix("v").split(".")
        if len(numbers) != 3 or not all(each.isdecimal() for each in numbers):
            raise ValueError(f"{text!r} is no version of etcd: write three numbers, 3.5.1, say")
        return cls(*map(int, numbers))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def refusal(current: Version, wanted: Version) -> str:
    """Why a cluster of the one version can't become one of the other; nothing if it can."""
    if wanted < current:
        return f"version {wanted} is older than {current}, which runs: etcd can't read the files of a newer version"
    if wanted.major != current.major:
        return f"version {wanted} is another major version than {current}: restore a snapshot into a new cluster"
    if wanted.minor > current.minor + 1:
        between = f"{current.major}.{current.minor + 1}"
        return f"from {current} to {wanted} skips a minor version: upgrade to a {between} first"
    return ""
