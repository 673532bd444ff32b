"""Which line of an operator's author it was: neither Python's, nor a library's, nor windvane's."""

import os
import site
import sys
import sysconfig
import traceback
from pathlib import Path

_LIBRARIES = tuple(
    f"{each}{os.sep}"
    for each in {
        *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        *site.getsitepackages(),
        str(Path(__file__).parents[2]),
    }
)


def line_of(file: str, number: int) -> str:
    """That line in words, `reach.py line 42`; nothing if it is not the author's."""
    return "" if file.startswith((*_LIBRARIES, "<")) else f"{Path(file).name} line {number}"


def line_here() -> str:
    """The author's innermost line that led to the caller; nothing if there is none."""
    frame = sys._getframe(1)
    while True:
        if line := line_of(frame.f_code.co_filename, frame.f_lineno):
            return line
        if frame.f_back is None:
            return ""
        frame = frame.f_back


def line_of_error(error: BaseException) -> str:
    """The author's innermost line in which something was raised; nothing if there is none."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    return next(filter(None, (line_of(each.filename, each.lineno or 0) for each in frames)), "")
