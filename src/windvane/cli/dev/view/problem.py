"""Where a traceback comes from: the file and the line of the author's code, and what is wrong there."""

import re
from pathlib import Path
from typing import NamedTuple

PLACE = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)
OTHERS = ("/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ", "/windvane/cli/", "/windvane/runtime/")
"""What is in the paths of files that are not the author's."""


class Problem(NamedTuple):
    """What is wrong, in a line."""

    error: str
    """`NameError: name 'spec' is not defined`"""
    file: str = ""
    line: int = 0
    source: str = ""
    """What stands in that line."""

    @property
    def place(self) -> str:
        """`src/sites/operator.py:41`, from where windvane was started; empty if that is not known."""
        return f"{_near(self.file)}:{self.line}" if self.file else ""


def read_problem(words: str) -> Problem:
    """What a traceback, or an operator's last words, say."""
    lines = words.splitlines()
    said = [line.strip() for line in lines if line.strip()]
    if not said:
        return Problem("")
    # After the message of an exception may come what was added to it; before it, at the margin, is its name.
    error = next(
        (line for line in reversed(lines) if re.match(r"[A-Za-z_][\w.]*(Error|Exception|Exit|Interrupt)\b", line)),
        said[-1],
    )
    places = list(PLACE.finditer(words))
    own = [each for each in places if not any(other in each["file"] for other in OTHERS)]
    if not places:
        return Problem(error.strip())
    last = (own or places)[-1]
    after = words[last.end() :].split("\n", 2)
    source = after[1].strip() if len(after) > 1 and not PLACE.match(after[1]) else ""
    return Problem(error.strip(), last["file"], int(last["line"]), "" if source == error.strip() else source)


def _near(file: str) -> str:
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file
