"""The embedded API server in a process of its own that tests may kill, at any moment, as often as they like.

Most of the time that `windvane cluster start` takes, Python reads modules. `Forge` does that once, in a process that
then forks: what it forks runs the same command in an empty copy of the same program, ready in a tenth of a second.
"""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import yaml

COMMAND = ["cluster", "start", "--no-controllers", "--data"]
STARTED = re.compile(r"forked (\d+)\n")
READY = " is ready, with pid "
ENDED = "ended\n"


@dataclass(frozen=True)
class Access:
    """How to reach a server that runs."""

    url: str
    token: str
    ca_file: Path

    @classmethod
    def of(cls, data: Path) -> "Access":
        """By the kubeconfig in the cluster's directory, as anybody would."""
        config = yaml.safe_load((data / "kubeconfig").read_text())
        token = (data / "pki" / "admin.token").read_text().strip()
        return cls(config["clusters"][0]["cluster"]["server"], token, data / "pki" / "ca.crt")


class Command:
    """Starts `windvane cluster start` as anybody would."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    @classmethod
    @contextmanager
    def open(cls) -> Iterator["Command"]:
        """Nothing is left running after the block."""
        command = cls()
        try:
            yield command
        finally:
            if command._process is not None:
                command.kill()

    def start(self, data: Path) -> None:
        """Return when the server is ready."""
        program = [sys.executable, "-m", "windvane.cli", *COMMAND, str(data)]
        self._process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        _wait_until_ready(self._process.stdout)

    def kill(self) -> None:
        """End it with SIGKILL, and return when it is gone."""
        assert self._process
        with self._process:
            self._process.kill()
        self._process = None


class Forge:
    """Starts servers by forking a process that has imported everything."""

    def __init__(self, parent: "subprocess.Popen[str]") -> None:
        assert parent.stdin
        assert parent.stdout
        self._orders, self._news = parent.stdin, parent.stdout
        self._pid = 0

    @classmethod
    @contextmanager
    def open(cls) -> Iterator["Forge"]:
        """The process that forks, for as long as the block lasts."""
        pipe = subprocess.PIPE
        with subprocess.Popen([sys.executable, __file__], stdin=pipe, stdout=pipe, text=True) as parent:
            forge = cls(parent)
            try:
                yield forge
            finally:
                if forge._pid:
                    forge.kill()

    def start(self, data: Path) -> None:
        """Return when the server is ready."""
        self._fork(data)
        _wait_until_ready(self._news)

    def start_and_kill(self, data: Path, *, after: float) -> None:
        """Kill it after so many seconds, ready or not."""
        self._fork(data)
        threading.Event().wait(after)
        self.kill()

    def kill(self) -> None:
        """End it with SIGKILL, and return when it is gone."""
        os.kill(self._pid, signal.SIGKILL)
        while self._news.readline() != ENDED:
            pass
        self._pid = 0

    def _fork(self, data: Path) -> None:
        self._orders.write(f"{data}\n")
        self._orders.flush()
        started = STARTED.fullmatch(self._news.readline())
        assert started, "the process that forks has died"
        self._pid = int(started[1])


def _wait_until_ready(news: IO[str]) -> None:
    for line in news:
        if READY in line:
            return
    raise AssertionError("the server ended while it started; what it said is above")


def fork_on_demand() -> None:
    """Fork a server for each directory named on standard input."""
    import windvane.cluster.apiserver.http.https_server
    import windvane.cluster.apiserver.server
    import windvane.cluster.pki  # noqa: F401 - imported to be there already in what is forked
    from windvane.cli import main

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            # Said by the server itself, so that nothing else that it says can come before.
            sys.stdout.write(f"forked {os.getpid()}\n")
            sys.stdout.flush()
            os._exit(main([*COMMAND, line.rstrip("\n")]))
        os.waitpid(pid, 0)
        sys.stdout.write(ENDED)
        sys.stdout.flush()


if __name__ == "__main__":
    fork_on_demand()
