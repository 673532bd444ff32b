"""What a container says, line by line with the time, in files as container runtimes write them.

    2026-11-16T02:00:00.123456789Z stdout F the line
    2026-11-16T02:00:00.123456789Z stderr P the beginning of a line that is too long, or has not ended

There is a file for each instance, NAMESPACE_POD_UID/CONTAINER/ATTEMPT.log; the one before the current is kept, older
ones are not. A file that has grown too long is renamed to ATTEMPT.log.TIME, and only so many of those are kept.
"""

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal

from windvane import ambient

LONGEST_LINE = 16 * 1024
LARGEST = 10 * 1024 * 1024
KEPT = 4
"""How many full files of an instance are kept beside the one that is written."""

Stream = Literal["stdout", "stderr"]


def pod_directory(logs: Path, namespace: str, name: str, uid: str) -> Path:
    """Where the logs of a pod are."""
    return logs / f"{namespace}_{name}_{uid}"


def log_file(directory: Path, container: str, attempt: int) -> Path:
    """Where the log of an instance of a container is."""
    return directory / container / f"{attempt}.log"


def log_files(file: Path) -> list[Path]:
    """All parts of the log of an instance that are there, the oldest first."""
    return [*sorted(file.parent.glob(f"{file.name}.*")), *([file] if file.exists() else [])]


class Log:
    """The log of one instance of a container, while it runs."""

    def __init__(self, directory: Path, container: str, attempt: int, *, largest: int = LARGEST) -> None:
        self.file = log_file(directory, container, attempt)
        self._largest = largest
        self._open: BinaryIO | None = None
        self._size = 0
        self._begun: dict[Stream, bytes] = {}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        for each in self.file.parent.iterdir():
            number = each.name.partition(".")[0]
            if number.isdecimal() and int(number) < attempt - 1:
                each.unlink(missing_ok=True)

    def write(self, stream: Stream, data: bytes) -> None:
        """Take down what was said; a line that has not ended is kept back until it has, or is too long.

        What can't be written, because the disk is full, is lost: the container goes on.
        """
        *lines, rest = (self._begun.pop(stream, b"") + data).split(b"\n")
        begin = _beginning(stream)  # once for all: empty lines, very many, must cost little
        parts = []
        for line in lines:
            while len(line) > LONGEST_LINE:
                parts.append(b"%sP %s\n" % (begin, line[:LONGEST_LINE]))
                line = line[LONGEST_LINE:]  # noqa: PLW2901 - what is left of it
            parts.append(b"%sF %s\n" % (begin, line))
        while len(rest) >= LONGEST_LINE:
            parts.append(b"%sP %s\n" % (begin, rest[:LONGEST_LINE]))
            rest = rest[LONGEST_LINE:]
        if rest:
            self._begun[stream] = rest
        with suppress(OSError):
            self._append(b"".join(parts))

    def close(self) -> None:
        """Take down what is left."""
        with suppress(OSError):
            self._append(b"".join(b"%sP %s\n" % (_beginning(each), rest) for each, rest in self._begun.items()))
        self._begun = {}
        if self._open is not None:
            self._open.close()
            self._open = None

    def _append(self, data: bytes) -> None:
        if self._open is not None and self._size and self._size + len(data) > self._largest:
            self._open.close()
            self._open = None
            self.file.rename(f"{self.file}.{ambient.now():%Y%m%d-%H%M%S.%f}")
            for old in log_files(self.file)[:-KEPT]:
                old.unlink(missing_ok=True)
        if self._open is None:
            self._open = self.file.open("ab", buffering=0)
            self._size = self.file.stat().st_size
        self._open.write(data)
        self._size += len(data)


def _beginning(stream: Stream) -> bytes:
    return f"{ambient.now():%Y-%m-%dT%H:%M:%S.%f}000Z {stream} ".encode()


def tail(file: Path, lines: int, most: int) -> str:
    """The last lines that an instance said, without times, and no more than so many bytes of them."""
    if not file.exists():
        return ""
    with file.open("rb") as log:
        log.seek(max(file.stat().st_size - most - 64 * lines, 0))
        said = log.read().splitlines()[-lines:]
    text = b"".join(each.split(b" ", 3)[3] + b"\n" for each in said if each.count(b" ") >= 3)
    return text[-most:].decode(errors="replace")
