"""A project as `windvane init` lays it out, and `windvane dev` at work in it: a process, as users start it."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from windvane import ObjectMeta, Resource, Spec, Status
from windvane.cli.layout import Names, lay_out

PATIENCE = 300.0
"""Seconds after which a process that says nothing is killed, so that a test fails and doesn't hang."""
OPERATOR = "src/website_operator/operator.py"
API = "src/website_operator/api.py"
SAMPLE = "samples/website.yaml"
DEPLOY = "deploy/operator.yaml"
READY = "Ready is True"


class WebsiteSpec(Spec):
    """What the project's has to have."""

    image: str
    copies: int = 1


class Website(Resource[WebsiteSpec, Status], group="example.com", version="v1alpha1"):
    """The project's, as far as it matters here."""


def wanted(name: str, copies: int = 1) -> Website:
    """One that a test makes."""
    return Website(metadata=ObjectMeta(name=name, namespace="default"), spec=WebsiteSpec(image="nginx", copies=copies))


class Desk:
    """A project, and the home of windvane's clusters."""

    def __init__(self, directory: Path) -> None:
        self.project = directory / "website"
        self.home = directory / "home"
        for path, content in lay_out(Names(name="website", group="example.com", kind="Website")):
            file = self.project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)

    def save(self, path: str, content: str) -> None:
        """As editors do: all at once."""
        file = self.project / path
        draft = file.with_name(f".{file.name}.draft")
        draft.write_text(content)
        draft.rename(file)

    def edit(self, path: str, before: str, after: str) -> str:
        """Have other words in a file; what was in it."""
        content = (self.project / path).read_text()
        assert before in content
        self.save(path, content.replace(before, after))
        return content

    @contextmanager
    def run(self, *words: str, before: Sequence[str] = ()) -> Iterator["Dev"]:
        """`windvane dev`, as words of another command if there are some; killed at the end of the block."""
        given = {name: value for name, value in os.environ.items() if not name.startswith(("WINDVANE", "KUBE"))}
        with subprocess.Popen(
            [*before, sys.executable, "-m", "windvane.cli", "dev", *words],
            cwd=self.project,
            env=given | {"WINDVANE_HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            watchdog = threading.Timer(PATIENCE, process.kill)
            watchdog.start()
            dev = Dev(process, self.home)
            try:
                yield dev
            finally:
                watchdog.cancel()
                process.kill()
                dev.end()

    def said(self, *words: str) -> tuple[int, str]:
        """Run one that ends by itself: its exit code, and all that it said."""
        with self.run(*words) as dev:
            return dev.end()


class Dev:
    """One that runs, and what it has said since the last `mark`."""

    def __init__(self, process: "subprocess.Popen[str]", home: Path) -> None:
        self.process = process
        self.lines: list[str] = []
        self._home = home
        self._mark = 0
        self._ended = False
        self._reading = True
        self._heard = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not self._reading:
                break
            with self._heard:
                self.lines.append(line)
                self._heard.notify_all()
        self.process.stdout.close()
        with self._heard:
            self._ended = True
            self._heard.notify_all()

    def mark(self) -> None:
        """What it has said up to now counts no more."""
        with self._heard:
            self._mark = len(self.lines)

    def until(self, words: str) -> str:
        """Wait until it has said a line with these words in it, since the mark; that line."""
        with self._heard:
            self._heard.wait_for(lambda: self._ended or self._found(words))
            if found := self._found(words):
                return found.rstrip("\n")
        raise AssertionError(f"it ended without a word of {words!r}: {''.join(self.lines)}")

    def _found(self, words: str) -> str:
        return next((line for line in self.lines[self._mark :] if words in line), "")

    @property
    def kubeconfig(self) -> Path:
        """For kubectl."""
        return next(self._home.glob("clusters/*/kubeconfig"))

    def operator(self) -> int:
        """The process of the operator, once it is ready."""
        found = re.search(r"the operator is starting, with pid (\d+)", self.until("the operator is starting"))
        assert found is not None
        self.until("the operator is ready")
        return int(found[1])

    def cluster(self) -> int:
        """The process of the cluster."""
        [pid] = [int(line.split()[0]) for line in processes(self._home) if " cluster start " in line]
        return pid

    def signal(self, number: signal.Signals) -> None:
        """Send it one."""
        self.process.send_signal(number)

    def read_no_more(self) -> None:
        """As `head` does, when it has what it wants."""
        self._reading = False

    def end(self) -> tuple[int, str]:
        """Wait for its end: its exit code, and all that it has said since the mark."""
        self._reader.join()
        return self.process.wait(), "".join(self.lines[self._mark :])


def processes(home: Path) -> list[str]:
    """Those that have to do with clusters in a directory: pid and command line of each."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it is gone by now
        if str(home) in words:
            found.append(f"{each.name} {words}")
    return found
