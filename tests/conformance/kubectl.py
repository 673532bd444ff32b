"""kubectl in a test's namespace, and transcripts of sessions with it.

A transcript is a file of commands and what they print on the real server, with what differs from run to run replaced
by words. `PYTHONPATH=tests python tests/conformance/record_sessions.py` records them anew; the commands stay.
"""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from conformance.requests import Raw
from conformance.servers import Server

SESSIONS = Path(__file__).parent / "sessions"
MANIFESTS = SESSIONS / "manifests"
PROMPT = "$ "
REPLACED = (
    (r"\+windvane\b", ""),  # the embedded server says what it is
    (r"\x1b\[[0-9;]*m", ""),
    (r"https://(127\.0\.0\.1|localhost):\d+", "SERVER"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "TIME"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r'(resourceVersion"?: )"\d+"', r'\1"VERSION"'),
    (r"/tmp/(LIVE|MERGED)-\d+/", r"\1/"),
    (r"(Resource Version: +)\d+", r"\1VERSION"),
    (r"/tmp/kubectl-edit-\d+", "FILE"),
    (r"\b\d+(?:s|m\d+s|d)\b", "AGE"),
    # What kubectl logs when its own --timeout cuts its watch: which line, if any, is a race between its goroutines.
    (r"[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ .* reflector\.go.*(very short watch|context deadline exceeded).*\n", ""),
)


def normal(text: str, raw: Raw) -> str:
    """The text with the test's namespace, times, uids and versions replaced by words."""
    text = text.replace(raw.namespace, "NS")
    for pattern, word in REPLACED:
        text = re.sub(pattern, word, text)
    # How wide a column is depends on what is in it: an age of 9s or 10s.
    return "\n".join(re.sub(r"(?<=\S) {2,}", "  ", line).rstrip() for line in text.splitlines())


class Session:
    """kubectl in the test's namespace."""

    def __init__(self, server: Server, raw: Raw) -> None:
        self._server = server
        self._raw = raw

    def __call__(self, command: str, *more: str, stdin: object = None, editor: str = "") -> str:
        """What kubectl prints."""
        text = None if stdin is None else json.dumps(stdin)
        arguments = [f"--namespace={self._raw.namespace}", *command.split(), *more]
        return normal(self._server.kubectl(*arguments, input=text, editor=editor), self._raw)

    def type(self, line: str) -> str:
        """What a line of a transcript prints: `kubectl get pods`, or `KUBE_EDITOR=... kubectl edit ...`."""
        words = shlex.split(line.replace("$NS", self._raw.namespace))
        text = None
        if words[-2] == "<":
            text = (MANIFESTS / words[-1]).read_text().replace("$NS", self._raw.namespace)
            del words[-2:]
        editor = words.pop(0).removeprefix("KUBE_EDITOR=") if words[0].startswith("KUBE_EDITOR=") else ""
        assert words.pop(0) == "kubectl", f"{line!r} is not about kubectl"
        arguments = [f"--namespace={self._raw.namespace}", *words]
        return normal(self._server.kubectl(*arguments, input=text, editor=editor, directory=MANIFESTS), self._raw)


@dataclass(frozen=True)
class Step:
    """One command, and what it prints."""

    line: str
    printed: str

    def __str__(self) -> str:
        return f"{PROMPT}{self.line}\n{self.printed}\n" if self.printed else f"{PROMPT}{self.line}\n"


def transcripts() -> list[str]:
    """The names of all sessions."""
    return sorted(path.stem for path in SESSIONS.glob("*.txt"))


def read_transcript(name: str) -> list[Step]:
    """The steps of a session."""
    steps = []
    for part in f"\n{(SESSIONS / f'{name}.txt').read_text()}".split(f"\n{PROMPT}")[1:]:
        line, _, printed = part.partition("\n")
        steps.append(Step(line, printed.rstrip("\n")))
    return steps
