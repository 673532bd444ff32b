"""Whether two values are the same in JSON, which tells more apart than Python does."""

from typing import Any


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON; to Python alone, 1 would also be true."""
    if type(one) is not type(other) and (type(one) is bool or type(other) is bool):
        return False
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(same_json(value, other[key]) for key, value in one.items())
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(same_json, one, other))
    return bool(one == other)
