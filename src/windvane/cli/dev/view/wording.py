"""How things are said in the live view: ages, durations, objects, and a colour for how each is."""

import re
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
MINUTE, HOUR, DAY = 60, 3600, 86400


class What(NamedTuple):
    """Which object is meant, whether it is there or not."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """`Website/blog`, or `Website/team/blog` outside the namespace `default`."""
        namespace = self.namespace if self.namespace != "default" else ""
        return "/".join(filter(None, (self.kind, namespace, self.name)))


class Tone(StrEnum):
    """How something is; its value is the style that shows it."""

    GOOD = "#7fc88f"
    WAITING = "#e5c07b"
    BAD = "bold #ff7b85"
    QUIET = "#8b919c"
    PLAIN = ""
    ACCENT = "#79b8ff"
    STRONG = "bold"


MARKS = {Tone.GOOD: "✓", Tone.WAITING: "◌", Tone.BAD: "✗", Tone.QUIET: "·"}
"""What says the same where there are no colours."""


def plain(words: str) -> str:
    """Words of others without what would move the cursor, change colours, or end the line."""
    return ESCAPES.sub("", words.replace("\t", "  ").replace("\r", "").replace("\n", " "))


def text(*parts: tuple[str, Tone] | str) -> Text:
    """Words in their tones."""
    made = Text(no_wrap=True, overflow="ellipsis")
    for part in parts:
        words, tone = (part, Tone.PLAIN) if isinstance(part, str) else part
        made.append(plain(words), tone.value)
    return made


def in_short(seconds: float) -> str:
    """How long, as in kubectl's AGE: `5s`, `3m`, `2h`, `4d`."""
    seconds = max(0, int(seconds))
    for unit, letter in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        if seconds >= 2 * unit or (unit != MINUTE and seconds >= unit):
            return f"{seconds // unit}{letter}"
    return f"{seconds}s"


def duration(seconds: float) -> str:
    """How long something took: `12ms`, `3.4s`."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f}ms"
    return f"{seconds:.1f}s" if seconds < 2 * MINUTE else in_short(seconds)


def clock(moment: datetime) -> str:
    """The time of day where the terminal is."""
    return moment.astimezone().strftime("%H:%M:%S")


def at_home(path: Path) -> str:
    """A path, with `~` for the home directory."""
    try:
        return f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(path)
