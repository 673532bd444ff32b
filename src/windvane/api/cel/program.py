"""Compiled expressions: what they come to, or the error that they come to instead, and what that cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from windvane.api.cel.closures import FIRST_FREE, Step
from windvane.api.cel.cost.limits import TooMuch, begin, tick
from windvane.api.cel.loops import UNSET, Frame
from windvane.api.cel.values import ABSENT, CelError


def _outcome(step: Step, frame: Frame) -> tuple[Any, int]:
    """What a step comes to, or the CelError that it came to instead, and what it cost."""
    try:
        return step.run(frame), frame[0]
    except CelError as error:
        return error, frame[0]
    except TooMuch as error:
        return CelError(str(error)), frame[0]


@dataclass(frozen=True, slots=True)
class Program:
    """An expression that can be run."""

    step: Step
    size: int

    def run(self, self_: Any, old_self: Any = ABSENT) -> tuple[Any, int]:
        """The value for `self` and `oldSelf` as JSON, or the CelError that it came to, and what it cost."""
        begin()
        frame: Frame = [self.step.cost, self_, old_self, *([UNSET] * (self.size - FIRST_FREE))]
        return _outcome(self.step, frame)


@dataclass(frozen=True, slots=True)
class DynamicProgram:
    """An expression that can be run on variables of which only the names are known before."""

    step: Step
    size: int

    def run(self, values: Sequence[Any]) -> tuple[Any, int]:
        """The value for these variables, or the CelError that it came to, and what it cost."""
        tick()
        frame: Frame = [self.step.cost, ABSENT, ABSENT, *values]
        frame += [UNSET] * (self.size - len(frame))
        return _outcome(self.step, frame)
