"""How loops run: over a list or map, one round for each item, until the answer is clear or it gets too expensive."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from windvane.ambient import stopwatch
from windvane.api.cel.cost.call_costs import BY_RESULT, Price
from windvane.api.cel.cost.limits import PER_CALL_LIMIT, TakesLong, TooExpensive, deadline
from windvane.api.cel.values import CelError, entries, iterated, no_overload

if TYPE_CHECKING:
    from windvane.api.cel.closures import Step

Frame = list[Any]
"""The cost so far, `self`, `oldSelf`, and the variables of loops."""
Run = Callable[[Frame], Any]


class _Unset:
    """What a name stands for before it is first used."""


UNSET: Final = _Unset()


def rounds(frame: Frame, over: Any, slots: tuple[int, int], cost: int) -> Iterator[None]:
    """One round for each item, with the variables set; `cost` is what every round costs."""
    first, second = slots
    limits = deadline()
    if not second:
        for frame[first] in iterated(over):
            frame[0] += cost
            if frame[0] > PER_CALL_LIMIT:
                raise TooExpensive(frame[0])
            if stopwatch() > limits.until:
                raise TakesLong
            yield
        return
    for frame[first], frame[second] in entries(over):
        frame[0] += cost
        if frame[0] > PER_CALL_LIMIT:
            raise TooExpensive(frame[0])
        if stopwatch() > limits.until:
            raise TakesLong
        yield


def quantifying(over: Run, slots: tuple[int, int], predicate: Run, decides: bool, asking: int, cost: int) -> Run:
    """`all` and `exists`: the first item that decides ends it; an item that comes to nothing may not matter.

    `asking` is what it costs to find out whether to go on, and `cost` what the rest of a round does.
    """

    def run(frame: Frame) -> bool:
        problem: CelError | None = None
        decided = False
        for _ in rounds(frame, over(frame), slots, asking):
            if decided:
                break
            frame[0] += cost
            try:
                value = predicate(frame)
            except CelError as error:
                problem = problem or error
                continue
            if value is decides:
                decided = True
            elif type(value) is not bool:
                problem = problem or no_overload()
        if decided:
            return decides
        if problem is not None:
            raise problem
        return not decides

    return run


def collecting(over: Run, slots: tuple[int, int], test: "Step | None", element: Run, cost: int) -> Run:
    """`map` and `filter`: a list of what is made of each item that passes the test; `cost` is for each of those."""

    def run(frame: Frame) -> list[Any]:
        found: list[Any] = []
        for _ in rounds(frame, over(frame), slots, test.cost if test is not None else cost):
            if test is not None:
                passed = test.run(frame)
                if passed is False:
                    continue
                if passed is not True:
                    raise no_overload()
                frame[0] += cost
            found.append(element(frame))
        return found

    return run


def binding(slot: int, result: Run) -> Run:
    """A name for a value that is computed when it is first used."""

    def run(frame: Frame) -> Any:
        frame[slot] = UNSET
        return result(frame)

    return run


def counting_on(runs: Sequence[Run], function: Callable[..., Any], price: Price) -> Run:
    """A call whose price depends on its arguments or on what comes of it.

    One that no budget allows is not made: it could take for ever, and all memory.
    """
    by_result = price in BY_RESULT

    def run(frame: Frame) -> Any:
        args: list[Any] = []
        try:
            for each in runs:
                args.append(each(frame))  # noqa: PERF401 - those before one that comes to nothing are needed
            if by_result:
                result = function(*args)
                frame[0] += price(args, result)
                return result
        except CelError as error:
            frame[0] += _price_of_nothing(frame, runs, args, price, error)
            raise
        frame[0] += price(args, None)
        if frame[0] > PER_CALL_LIMIT:
            raise TooExpensive(frame[0])
        return function(*args)

    return run


def _price_of_nothing(frame: Frame, runs: Sequence[Run], args: list[Any], price: Price, error: CelError) -> int:
    """What a call costs that comes to nothing, because an argument does. With more than two, that ends it at once."""
    if len(args) < len(runs):
        if len(runs) > 2:
            return 0
        args.append(error)
        args += [attempted(each, frame) for each in runs[len(args) :]]
    return price(args, error)


def attempted(run: Run, frame: Frame) -> Any:
    """What something comes to, which may be a CelError."""
    try:
        return run(frame)
    except CelError as error:
        return error
