"""Lists and maps with a limit: one that is longer is refused, and nothing in it is looked at."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

from windvane.cluster.apiserver.registry.validation.problems import Problems

T = TypeVar("T")
Check = Callable[[T, str, Problems], None]
SHORTEST_KEY = 16


def check_list(found: Sequence[T], limit: int, check: Check[T], path: str, problems: Problems) -> bool:
    """Check each item; whether they were few enough for that."""
    if len(found) > limit:
        problems.too_many(path, len(found), limit)
        return False
    for index, item in enumerate(found):
        check(item, f"{path}[{index}]", problems)
    return True


def check_set(
    found: Sequence[T], limit: int, check: Check[T], key: Callable[[T], Hashable], path: str, problems: Problems
) -> None:
    """Check each item, and that no two have the same key."""
    if not check_list(found, limit, check, path, problems):
        return
    seen: set[Hashable] = set()
    for index, item in enumerate(found):
        if key(item) in seen:
            problems.duplicate(f"{path}[{index}]", key(item))
        seen.add(key(item))


def check_map(
    found: Mapping[str, T], limit: int | None, longest_key: int, path: str, problems: Problems, *, key: Check[str],
    value: Check[T],
) -> None:  # fmt: skip
    """Check each key, and each value."""
    if limit is not None and len(found) > limit:
        problems.too_many(path, len(found), limit)
        return
    for name, item in found.items():
        key(name, path, problems)
        value(item, f"{path}[{shortened(name, longest_key)}]", problems)


def no_duplicates(found: Collection[str], path: str, problems: Problems) -> None:
    """Check that no word is there twice."""
    seen: set[str] = set()
    for index, word in enumerate(found):
        if word in seen:
            problems.duplicate(f"{path}[{index}]", word)
        seen.add(word)


def shortened(key: str, longest: int) -> str:
    """A key as paths show it: without its middle, if it is longer than any that is allowed."""
    longest = max(longest, SHORTEST_KEY)
    if len(key) <= longest:
        return key
    kept = longest - len("...")
    return f"{key[: (kept + 1) // 2]}...{key[len(key) - kept // 2 :]}"
