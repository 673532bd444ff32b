"""Attributes that are computed when they are first asked for, and may take long, in whichever thread that is.

`functools.cached_property` does the same, but in Python 3.11 with a lock that all objects of a class share: while a
thread reads one kind's rules for a minute, the event loop would stand still before the rules of any other.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LazyAttribute(Generic[T]):
    """Such an attribute. Two threads that ask at the same time may both compute it."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = ""

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, of: object, _: type | None = None) -> T:
        value = vars(of)[self._name] = self._compute(of)
        return value
