"""What a check of `windvane doctor` finds, and how it is shown."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TextIO

Level = Literal["ok", "warn", "fail"]
COLOURS = {"ok": "32", "warn": "33", "fail": "31"}
WIDTH = 14


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, how it is, and what to do about it."""

    what: str
    level: Level
    words: str
    remedy: str = ""


def ok(what: str, words: str) -> Finding:
    """All is well."""
    return Finding(what, "ok", words)


def warn(what: str, words: str, remedy: str = "") -> Finding:
    """It may be that something does not work."""
    return Finding(what, "warn", words, remedy)


def fail(what: str, words: str, remedy: str) -> Finding:
    """Something does not work, and this is what to do."""
    return Finding(what, "fail", words, remedy)


def show(findings: Iterable[Finding], to: TextIO | None = None) -> bool:
    """Write each finding as it comes; whether none of them failed."""
    to = to or sys.stdout
    coloured = to.isatty() and not os.environ.get("NO_COLOR")
    well = True
    for each in findings:
        well = well and each.level != "fail"
        mark = f"{each.level:<4}"
        if coloured:
            mark = f"\x1b[{COLOURS[each.level]}m{mark}\x1b[0m"
        first, *more = each.words.splitlines() or [""]
        to.write(f"{mark} {each.what:<{WIDTH}} {first}\n")
        indent = " " * (WIDTH + 6)
        to.writelines(f"{indent}{line}\n" for line in more)
        to.writelines(f"{indent}→ {line}\n" for line in each.remedy.splitlines())
        to.flush()
    return well
