"""Does literally what a page of the manual says: types its commands, makes its changes, looks for the answers it shows.

- A block `console` is what happens in a terminal: lines that begin with `$ ` are typed, the others are shown. Of what
  is shown, numbers may differ, and `...` stands for anything.
- A block `diff` is a change to the file that its first line names: its lines must be there as they are.
- Prose that speaks of the second (or first) terminal goes there, and `Ctrl-C` is pressed in the terminal that it names.
- A command of FOREGROUND goes on. The next block waits for what the page shows of its output. What it tells later is in
  a block `console` of its terminal in which nothing is typed.
"""

import os
import pty
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FOREGROUND = re.compile(r"windvane (run|dev)\b")
FAILS = re.compile(r"^\d+ failed|^Plan: .* Nothing was written", re.MULTILINE)
"""What the page shows of commands that tell by their exit code that there is something to do."""
PATIENCE = 300.0
"""Seconds after which what hangs is killed."""


class Command(NamedTuple):
    """What is typed, and what the page shows after it."""

    typed: str
    shown: list[str]


class Seen(NamedTuple):
    """What a command that goes on has told meanwhile."""

    shown: list[str]


class Change(NamedTuple):
    """An edit of a file."""

    file: str
    before: str
    after: str


class Prose(NamedTuple):
    """What is said between two blocks."""

    text: str


def steps(page: str) -> Iterator[Prose | Command | Seen | Change]:
    """What a page tells its reader to do, in order."""
    at = 0
    for match in BLOCK.finditer(page):
        yield Prose(page[at : match.start()])
        at = match.end()
        language, body = match.groups()
        if language == "console":
            yield from _commands(body)
        elif language == "diff":
            yield _change(body)


def _commands(body: str) -> Iterator[Command | Seen]:
    if not body.startswith("$ "):
        yield Seen(body.splitlines())
        return
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        typed, *shown = part.splitlines()
        yield Command(typed, [line for line in shown if line.strip()])


def _change(body: str) -> Change:
    first, *lines = body.splitlines()
    assert first.startswith("--- "), f"a diff begins with the name of its file: {first}"
    before, after = ("".join(f"{line[1:]}\n" for line in lines if line[:1] != sign) for sign in "+-")
    return Change(first.removeprefix("--- "), before, after)


def as_pattern(line: str) -> str:
    """What a line that the page shows stands for: numbers, and the width of columns, may be others."""
    words = [re.sub(r"\d+", lambda _: r"\d+", re.escape(word)) for word in line.split()]
    return r"\s+".join(words).replace(re.escape("..."), ".*")


def missing(shown: list[str], said: str) -> list[str]:
    """The lines that the page shows and that were not there, in this order."""
    at = 0
    for number, line in enumerate(shown):
        if line.strip() == "...":
            continue
        found = re.compile(as_pattern(line)).search(said, at)
        if found is None:
            return shown[number:]
        at = found.end()
    return []


class Screen:
    """What a command that goes on has printed. It is read all the time, or else the command would have to wait."""

    def __init__(self) -> None:
        self._ours, self.theirs = pty.openpty()
        self._said = b""
        self._ended = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # which is how a terminal tells that nobody writes to it any more
            while chunk := os.read(self._ours, 65536):
                with self._changed:
                    self._said += chunk
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def text(self) -> str:
        return COLOURS.sub("", self._said.decode(errors="replace"))

    def wait_for(self, shown: list[str]) -> bool:
        """Whether these lines have come before the command ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or not missing(shown, self.text()), PATIENCE)
        return not missing(shown, self.text())

    def close(self) -> None:
        self._reader.join()
        os.close(self._ours)


class Terminal:
    """A shell, whose directory and variables last from one command to the next."""

    def __init__(self, place: Path, directory: Path, variables: Mapping[str, str]) -> None:
        self._place = place
        place.mkdir()
        (place / "variables").write_text("")
        (place / "directory").write_text(str(directory))
        self._variables = dict(variables)
        self._foreground: subprocess.Popen[bytes] | None = None
        self._screen: Screen | None = None

    @property
    def directory(self) -> Path:
        return Path((self._place / "directory").read_text().strip())

    def type(self, command: Command) -> None:
        """Type a command, and compare what it prints with what the page shows. It may fail only if the page says so."""
        assert self._foreground is None, f"{command.typed}: typed where another command still runs"
        if FOREGROUND.match(command.typed):
            self._start(command)
            return
        keep = f"code=$?; export -p > {self._place}/variables; pwd > {self._place}/directory; exit $code"
        shell = self._shell(f"{command.typed}\n{keep}")
        done = subprocess.run(
            shell,
            env=self._variables,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
        )
        said = done.stdout.decode()
        fails = bool(FAILS.search("\n".join(command.shown)))
        assert done.returncode in ({1, 10} if fails else {0}), f"{command.typed}:\n{said}"
        assert missing(command.shown, said) == [], f"{command.typed}:\n{said}"

    def _shell(self, script: str) -> list[str]:
        return ["bash", "-c", f'. {self._place}/variables; cd "$(cat {self._place}/directory)"\n{script}']

    def _start(self, command: Command) -> None:
        self._screen = screen = Screen()
        self._foreground = subprocess.Popen(
            self._shell(f"exec {command.typed}"),
            env=self._variables,
            stdin=screen.theirs,
            stdout=screen.theirs,
            stderr=screen.theirs,
            start_new_session=True,
        )
        os.close(screen.theirs)
        self.sees(command.shown)

    def sees(self, shown: list[str]) -> None:
        """Wait until the command that goes on has told these lines."""
        assert self._screen is not None, f"nothing runs that could tell {shown}"
        assert self._screen.wait_for(shown), f"not told: {shown}\n{self._screen.text()}"

    def interrupt(self) -> None:
        """Press Ctrl-C. What runs ends."""
        assert self._foreground is not None, "Ctrl-C, and nothing runs"
        self._end(signal.SIGINT)

    def close(self) -> None:
        if self._foreground is not None:
            self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        assert self._foreground is not None
        assert self._screen is not None
        os.killpg(self._foreground.pid, how)
        self._foreground.wait(PATIENCE)
        self._screen.close()
        self._foreground = self._screen = None


def apply(change: Change, directory: Path) -> None:
    """Make an edit. The lines that it shows must be in the file, once."""
    file = directory / change.file
    text = file.read_text()
    assert text.count(change.before) == 1, (
        f"{change.file} has these lines {text.count(change.before)} times:\n{change.before}"
    )
    file.write_text(text.replace(change.before, change.after))


def follow(page: str, terminals: Sequence[Terminal]) -> None:
    """Do all of it."""
    terminal = terminals[0]
    for step in steps(page):
        match step:
            case Prose(text):
                for name, each in zip(("first", "second"), terminals, strict=True):
                    terminal = each if f"{name} terminal" in text else terminal
                if "Ctrl-C in the" in text:
                    terminal.interrupt()
            case Command():
                terminal.type(step)
            case Seen(shown):
                terminal.sees(shown)
            case Change():
                apply(step, terminal.directory)
