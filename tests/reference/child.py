"""A program that runs beside the tests and never outlives them."""

import os
import subprocess
import sys
from pathlib import Path

# A server that outlives its tests holds a port, memory and part of a core for days. Cleaning up at exit isn't enough: a
# pytest that is killed cleans nothing up. So on Linux the kernel is told to kill the child when its parent goes away.
# A child must ask for that itself, before it becomes the program, so a line of Python runs first; doing it in
# `preexec_fn` could deadlock, because that runs in a fork of a process that may have threads. The parent may be gone
# before the child has asked; the check after asking closes that gap.
TIED_TO_PARENT = """
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the tests ended before this program could start")
os.execv(sys.argv[2], sys.argv[2:])
"""

LINES_OF_LOG_IN_ERRORS = 30


class Child:
    """A running program whose output goes to a file.

    The kernel counts the thread that started it as its parent: start it from one that stays, such as the main one.
    """

    def __init__(self, program: Path, *arguments: str, log: Path) -> None:
        self.name = program.name
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", TIED_TO_PARENT, str(os.getpid()), str(program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A Ctrl-C in the terminal is for pytest alone: its fixtures need the servers until they are torn down.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def exits_within(self, seconds: float) -> bool:
        """Wait until the program has ended, but no longer than this; say whether it has."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self, *, patience: float = 20) -> None:
        """End the program: ask it, wait, then insist. Safe to call on one that has ended."""
        self._process.terminate()
        if not self.exits_within(patience):
            self._process.kill()
            self._process.wait()

    def last_words(self) -> str:
        """How the program is, and the end of its log, for an error message."""
        code = self._process.poll()
        state = "is running" if code is None else f"ended with exit code {code}"
        lines = self._log.read_text(errors="replace").splitlines()[-LINES_OF_LOG_IN_ERRORS:]
        return "\n  ".join([f"{self.name} (pid {self.pid}) {state}; its log ends with:", *lines])
