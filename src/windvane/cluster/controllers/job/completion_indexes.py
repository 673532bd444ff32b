"""Sets of completion indexes as a Job's status writes them: `1,3-5,7`. A million of them may be one short string."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Interval = tuple[int, int]
"""The first and the last of some indexes that follow each other."""


@dataclass(frozen=True)
class Indexes:
    """A set of indexes, held as intervals that neither touch nor overlap, in order."""

    intervals: tuple[Interval, ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[int]) -> "Indexes":
        """These indexes."""
        return cls(_joined((number, number) for number in numbers))

    @classmethod
    def parse(cls, text: str | None, completions: int) -> "Indexes":
        """What a status says, as far as it is below `completions`. What can't be read is left out."""
        found = []
        for part in (text or "").split(","):
            first, dash, last = part.partition("-")
            if first.isdecimal() and (last.isdecimal() if dash else True):
                found.append((int(first), min(int(last) if dash else int(first), completions - 1)))
        return cls(_joined(each for each in found if each[0] < completions))

    def __str__(self) -> str:
        return ",".join(
            str(first) if first == last else f"{first},{last}" if last == first + 1 else f"{first}-{last}"
            for first, last in self.intervals
        )

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.intervals)

    def __contains__(self, index: object) -> bool:
        return isinstance(index, int) and any(first <= index <= last for first, last in self.intervals)

    def __or__(self, other: "Indexes") -> "Indexes":
        return Indexes(_joined((*self.intervals, *other.intervals)))

    def shared_with(self, other: "Indexes") -> int:
        """How many are in both."""
        return len(self) + len(other) - len(self | other)

    def first_missing(self, count: int, completions: int) -> list[int]:
        """The first `count` indexes below `completions` that are not in the set."""
        missing: list[int] = []
        for number in self._gaps(completions):
            if len(missing) >= count:
                break
            missing.append(number)
        return missing

    def _gaps(self, end: int) -> Iterator[int]:
        begin = 0
        for first, last in self.intervals:
            yield from range(begin, min(first, end))
            begin = last + 1
        yield from range(begin, end)


def _joined(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    joined: list[Interval] = []
    for first, last in sorted(intervals):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)
