"""`windvane dev` in a terminal: the view comes up, keys reach it, and however it ends, the terminal is as it was."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from integration.dev.desk import OPERATOR, PATIENCE, Desk, processes

pytestmark = pytest.mark.xdist_group("windvane dev, its beginning and its end")

CODES = re.compile(r"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|[()][0-9A-B]|[=>]|\][^\x07\x1b]*(\x07|\x1b\\)|P[^\x1b]*\x1b\\)")
OTHER_SCREEN, OWN_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
CTRL_C = b"\x03"


class Terminal:
    """A terminal with a program in it, and what that has written there."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process = process
        self._master = master
        self.written = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def until(self, words: str) -> None:
        """Wait until it has written this; what it has written before counts no more."""
        while words not in CODES.sub("", self.written):
            some = self._read()
            assert some, f"no {words!r}; it ended with {self.process.poll()}: {CODES.sub('', self.written)[-4000:]}"
            self.written += some
        self.written = ""

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._master, keys)

    def end(self) -> tuple[int, str]:
        """Its exit code, once it has ended, and what it has written since the last `until`."""
        while some := self._read():
            self.written += some
        return self.process.wait(), self.written

    def _read(self) -> str:
        """What it writes next; nothing if it has ended."""
        while True:
            ended = self.process.poll() is not None
            if select.select([self._master], [], [], 0.1)[0]:
                if some := self._decoder.decode(os.read(self._master, 65536)):
                    return some
            elif ended:
                return ""


@contextmanager
def terminal(desk: Desk, kind: str = "xterm-256color") -> Iterator[Terminal]:
    """`windvane dev` in a terminal of 120 columns and 40 lines, killed at the end of the block if it still runs."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    before = termios.tcgetattr(slave)
    others = ("WINDVANE", "KUBE", "COLUMNS", "LINES")  # pytest-xdist says how wide its terminal is
    given = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    process = subprocess.Popen(
        [sys.executable, "-m", "windvane.cli", "dev"],
        cwd=desk.project,
        env=given | {"WINDVANE_HOME": str(desk.home), "TERM": kind},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        yield Terminal(process, master)
        assert termios.tcgetattr(slave) == before
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        os.close(slave)
        os.close(master)


@pytest.mark.parametrize("ending", [b"q", CTRL_C, signal.SIGTERM])
def test_the_view_comes_up_and_leaves_the_terminal_as_it_was(tmp_path: Path, ending: bytes | signal.Signals) -> None:
    desk = Desk(tmp_path)
    with terminal(desk) as shown:
        shown.until("✓ Ready: 2 of 2 copies are ready")
        if ending == b"q":
            desk.edit(OPERATOR, "ctx.ready(", "ctx.ready((")
            shown.until("SyntaxError: '(' was never closed")
            shown.type(b"4")
            shown.until("the version before goes on")
        if isinstance(ending, bytes):
            shown.type(ending)
        else:
            shown.process.send_signal(ending)
        code, written = shown.end()
        assert code == 0
        own = written.rpartition(OWN_SCREEN)[2]
        assert OTHER_SCREEN not in own
        assert "stopping: the operator first, then the cluster" in own
        assert "dev        stopped" in own
    while processes(desk.home):
        pass


def test_a_terminal_that_can_not_move_its_cursor_has_lines(tmp_path: Path) -> None:
    with terminal(Desk(tmp_path), kind="dumb") as shown:
        shown.until("Ready is True (Ready): 2 of 2 copies are ready")
        shown.process.send_signal(signal.SIGINT)
        code, written = shown.end()
        assert code == 0
        assert "\x1b" not in written
