"""Lays an applied object over the live one: what it states holds, and what it doesn't mention stays."""

from typing import Any

from windvane.cluster.apiserver.managedfields.comparison import by_step
from windvane.cluster.apiserver.managedfields.shape import DEDUCED, Shape

ABSENT: Any = object()
"""Stands for a value that is not there, which null is not."""


def merge(shape: Shape, live: Any, applied: Any) -> Any:
    """The live value under the applied one; shares parts with both."""
    if applied is ABSENT:
        return live
    if live is ABSENT:
        return applied
    form = shape.form_of(applied)
    if form == "map" and not shape.whole_map:
        mine = live if type(live) is dict else {}
        theirs = applied if type(applied) is dict else {}
        if mine or theirs:
            return _merged_maps(shape, mine, theirs)
    elif form == "list" and not shape.whole_list:
        listed = live if type(live) is list else []
        stated = applied if type(applied) is list else []
        if listed or stated:
            return _merged_lists(shape, listed, stated)
    return applied


def _merged_maps(shape: Shape, live: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    result = dict(live)
    for name, value in applied.items():
        result[name] = merge(shape.field(name) or DEDUCED, live.get(name, ABSENT), value)
    return result


def _merged_lists(shape: Shape, live: list[Any], applied: list[Any]) -> list[Any]:
    """All items of both, in the applied order, and with what only the live list has between them, where it was."""
    below = shape.item()
    there, stated = by_step(shape, live), by_step(shape, applied)
    steps, order = [shape.step_to(item) for item in live], list(stated)
    shared = [step for step in order if step in there]
    result: list[Any] = []
    placed: set[str] = set()
    left = right = turn = 0

    def place(step: str) -> None:
        items = there.get(step, ())
        # An item that the live list has twice has no counterpart: the applied one takes its place.
        result.append(merge(below, items[0] if len(items) == 1 else ABSENT, stated[step][0]))
        placed.add(step)

    while left < len(steps) or right < len(order):
        if left < len(steps) and right < len(order):
            step = steps[left]
            if step == order[right]:
                place(step)
                left, right, turn = left + 1, right + 1, turn + 1
                continue
            if step in stated and turn < len(shared) and shared[turn] != step:
                left += 1  # it has its place in the applied order
                continue
        if left < len(steps):
            step = steps[left]
            if step not in stated:
                result.append(live[left])
                left += 1
                continue
            if step in placed:
                left += 1
        if right < len(order):
            step = order[right]
            place(step)
            right += 1
            if turn < len(shared) and shared[turn] == step:
                turn += 1
    return result
