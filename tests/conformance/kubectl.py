"""kubectl in a test's namespace. What it prints is shown with words in place of what differs from run to run."""

import json
import shlex

from conformance.requests import Raw
from conformance.servers import Server
from conformance.transcript import RECORDED
from conformance.volatile import printed

MANIFESTS = RECORDED / "kubectl" / "manifests"


class Session:
    """kubectl in the test's namespace."""

    def __init__(self, server: Server, raw: Raw) -> None:
        self._server = server
        self._raw = raw

    def __call__(self, command: str, *more: str, stdin: object = None, editor: str = "") -> str:
        """What kubectl prints."""
        text = None if stdin is None else json.dumps(stdin)
        arguments = [f"--namespace={self._raw.namespace}", *command.split(), *more]
        return printed(self._server.kubectl(*arguments, input=text, editor=editor), self._raw.namespace)

    def type(self, line: str, text: str | None = None) -> str:
        """What a line of a transcript prints: `kubectl get pods`, or `KUBE_EDITOR=... kubectl edit ...`."""
        words = shlex.split(line.replace("$NS", self._raw.namespace))
        if words[-2] == "<":
            text = (MANIFESTS / words[-1]).read_text().replace("$NS", self._raw.namespace)
            del words[-2:]
        editor = words.pop(0).removeprefix("KUBE_EDITOR=") if words[0].startswith("KUBE_EDITOR=") else ""
        assert words.pop(0) == "kubectl", f"{line!r} is not about kubectl"
        arguments = [f"--namespace={self._raw.namespace}", *words]
        told = self._server.kubectl(*arguments, input=text, editor=editor, directory=MANIFESTS)
        return printed(told, self._raw.namespace)
