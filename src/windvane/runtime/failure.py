"""Why a pass failed, as a log tells it: the author's lines first, and each failure in full only once."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

_RUNTIME = str(Path(__file__).parent)
_ASYNCIO = str(Path(asyncio.__file__).parent)


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
        mine = [place for place in self.places if not place[0].startswith((_RUNTIME, _ASYNCIO))]
        file, line = (mine or list(self.places) or [("", 0)])[-1]
        return f"{Path(file).name} line {line}"

    @staticmethod
    def shown(error: BaseException) -> Any:
        """What logging takes as `exc_info`, without the frames that lead to the author's function."""
        return type(error), error, _authors_part(error.__traceback__)


def _authors_part(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback from the first frame that is not the runtime's; the whole one if there is none."""
    at = traceback
    while at is not None and at.tb_frame.f_code.co_filename.startswith((_RUNTIME, _ASYNCIO)):
        at = at.tb_next
    return at or traceback
