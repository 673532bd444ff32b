"""The lines that the operator's process writes: its log, which is JSON, and whatever else the author's code prints."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

OWN = ("time", "level", "logger", "message", "exception", "stack")
LOUD = ("WARNING", "ERROR", "CRITICAL")


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """One line, with the traceback that came with it."""

    message: str
    level: str = ""
    """Empty: it was printed, not logged."""
    time: str = ""
    """Of day."""
    facts: str = ""
    """What is known beside the message: `object=default/example`."""
    exception: str = ""
    """Or the stack, of what is told without an exception."""
    logger: str = ""

    @property
    def is_loud(self) -> bool:
        """Whether a person should see it."""
        return self.level in LOUD

    def __str__(self) -> str:
        words = f"{self.time} {self.level:7} {self.message}".strip() if self.level else self.message
        return f"{words}  {self.facts}" if self.facts else words


def read_line(text: str) -> LogLine:
    """What a line says."""
    try:
        found = json.loads(text) if text.startswith("{") else None
    except ValueError:
        found = None
    if not isinstance(found, dict) or "message" not in found or "level" not in found:
        return LogLine(message=text.rstrip())
    return LogLine(
        message=str(found["message"]),
        level=str(found["level"]),
        time=str(found.get("time", ""))[11:23],
        facts=" ".join(f"{name}={value}" for name, value in found.items() if name not in OWN),
        exception=str(found.get("exception") or found.get("stack") or ""),
        logger=str(found.get("logger", "")),
    )


def keep_line(text: str, file: Path) -> None:
    """Write a line into a log file; not if it can't be, as on a full disk: a process that is not read stands still."""
    with suppress(OSError), file.open("a", encoding="utf-8") as log:
        log.write(f"{text}\n")
