"""Why a pass failed, as a log tells it: the author's lines first, and each failure in full only once."""

import asyncio
import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from windvane import ambient

_NOT_THE_AUTHORS = (
    f"{Path(ambient.__file__).parent}{os.sep}",  # windvane's, and not that of windvane_etcd, say
    f"{Path(asyncio.__file__).parent}{os.sep}",
    contextlib.__file__,
)
SHOWN = 3
"""How many of the failures in a group are told in words."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception, by what and where it is: two that are equal have one cause, whatever numbers are in their words."""

    type: type[BaseException]
    places: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        """What failed, and through which lines."""
        places = []
        at = _authors_part(error.__traceback__)
        while at is not None:
            places.append((at.tb_frame.f_code.co_filename, at.tb_lineno))
            at = at.tb_next
        return cls(type(error), tuple(places))

    @property
    def where(self) -> str:
        """The author's last line in it: `website.py line 42`."""
        mine = [place for place in self.places if not place[0].startswith(_NOT_THE_AUTHORS)]
        file, line = (mine or list(self.places) or [("", 0)])[-1]
        return f"{Path(file).name} line {line}"

    @staticmethod
    def shown(error: BaseException) -> Any:
        """What logging takes as `exc_info`, without the frames that lead to the author's function."""
        return type(error), error, _authors_part(error.__traceback__)


def words(error: BaseException) -> str:
    """What an exception says. A group says no more than how many are in it, so what these say is told instead."""
    if not isinstance(error, BaseExceptionGroup):
        return str(error) or type(error).__name__
    said = list(dict.fromkeys(named(each) for each in _leaves(error)))
    more = f"; and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return ("" if _of_tasks(error) else f"{error.message}: ") + "; ".join(said[:SHOWN]) + more


def named(error: BaseException) -> str:
    """What an exception is and says: `ConnectionError: the line is dead`."""
    said = words(error)
    return said if said == type(error).__name__ else f"{type(error).__name__}: {said}"


def meant(error: Exception) -> Exception:
    """What went wrong, of what was raised: a task group raises a group, also if it is for one failure alone."""
    while isinstance(error, ExceptionGroup) and _of_tasks(error) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def exited(error: SystemExit) -> RuntimeError:
    """What a SystemExit is, which some library may raise: it must not end an operator that has other objects."""
    words = f"sys.exit({error.code!r}): that does not end the operator, and is a failure as any other"
    return RuntimeError(words).with_traceback(error.__traceback__)


def cancelling() -> int:
    """How often the task that we are in was cancelled. A task group that failed may have left one of its own there."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def not_cancelled(error: asyncio.CancelledError) -> RuntimeError:
    """What a CancelledError is in a task that nothing has cancelled: it must not end as one that was."""
    words = "asyncio.CancelledError, though nothing had told it to end: something that it waited for was cancelled"
    return RuntimeError(words).with_traceback(error.__traceback__)


def _of_tasks(group: BaseExceptionGroup[Any]) -> bool:
    """Whether a task group has raised it, of asyncio or of anyio, and not the author, who has given it a meaning."""
    return group.message.startswith("unhandled errors in a TaskGroup")


def _leaves(group: BaseExceptionGroup[Any]) -> list[Any]:
    return [
        leaf
        for each in group.exceptions
        for leaf in (_leaves(each) if isinstance(each, BaseExceptionGroup) else [each])
    ]


def _authors_part(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback from the first frame that is the author's; the whole one if there is none."""
    at = traceback
    while at is not None and at.tb_frame.f_code.co_filename.startswith(_NOT_THE_AUTHORS):
        at = at.tb_next
    return at or traceback
