"""An int-or-string is a number, or a share of one in percent: `maxUnavailable: 1` or `maxUnavailable: 25%`."""

import re
from typing import TypeAlias

IntOrString: TypeAlias = int | str

_PERCENT = re.compile(r"([+-]?[0-9]{1,18})%")


def scaled_value(value: IntOrString, total: int, *, round_up: bool) -> int:
    """`value` itself if it is a number; if it is a percentage, that share of `total`, rounded up or down."""
    if isinstance(value, int):
        return value
    percent = _PERCENT.fullmatch(value)
    if percent is None:
        raise ValueError(f'{value[:60]!r} is not a number and not a percentage; write for example 1 or "25%"')
    share = int(percent[1]) * total
    return -(-share // 100) if round_up else share // 100
