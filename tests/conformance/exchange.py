"""Plays a scenario on a server: sends its steps and says what they are answered.

A request reads `PUT configmaps/a?dryRun=All {data: {k: v}}`: a method, a path as `requests.py` has it, and a body as
`flow.py` has it; one that is a text is sent as it is. `PATCH/merge` says which patch. Between path and body may stand
headers, as in `Accept=application/yaml`, or `show=items.*.metadata.name` where not all of the answer counts. `$NS` is
the scenario's namespace; `$UID` and `$VERSION` are those of the object that the last request was answered.

What kubectl reads is a file of `recorded/kubectl/manifests`, or a value: `kubectl apply -f - < !pod {kind: Pod}`.
"""

import json
import re
import textwrap
from difflib import unified_diff
from typing import Any

from conformance.answers import written
from conformance.flow import parse
from conformance.kubectl import Session
from conformance.requests import PATCHES, Answer, Raw
from conformance.servers import Server
from conformance.transcript import Scenario, Step
from conformance.volatile import Words

REQUEST = re.compile(r'([A-Z]+)(?:/(\w+))? (\S+)((?: [A-Za-z-]+=(?:"[^"]*"|\S+))*)(?: (.*))?')
OPTION = re.compile(r' ([A-Za-z-]+)=(?:"([^"]*)"|(\S+))')


async def play(scenario: Scenario, server: Server, raw: Raw) -> Scenario:
    """The scenario with the answers of this server."""
    exchange = Exchange(server, raw, scenario)
    steps = [await exchange.step(step) for step in scenario.steps]
    return Scenario(scenario.area, scenario.says, tuple(steps))


async def difference(scenario: Scenario, server: Server, raw: Raw) -> str:
    """What this server answers otherwise than is recorded, as a diff; nothing if it doesn't."""
    played = await play(scenario, server, raw)
    texts = scenario.text.splitlines(), played.text.splitlines()
    return "\n".join(unified_diff(*texts, "recorded", server.name, n=1, lineterm=""))


class Exchange:
    """The steps of one scenario, one after the other."""

    def __init__(self, server: Server, raw: Raw, scenario: Scenario) -> None:
        self._raw = raw
        self._kubectl = Session(server, raw)
        self._words = Words(raw.namespace, "\n".join(step.line for step in scenario.steps))
        self._answer: Any = None

    async def step(self, step: Step) -> Step:
        """Send one step."""
        if " kubectl " in f" {step.line}":
            return self._typed(step)
        first, _, more = step.line.partition("\n")
        found = REQUEST.fullmatch(first)
        assert found, f"no request: {first}"
        method, patch, place, options, body = found.groups()
        if more:
            body = "\n".join([*filter(None, [body]), textwrap.dedent(more)])
        named = {name: quoted or plain for name, quoted, plain in OPTION.findall(options)}
        show = named.pop("show", "")
        answer = await self._send(f"{method} {place}", body, patch, named)
        if step.answer is None:
            assert answer.code < 300, f"{step.line}: {answer.body.decode()}"
            return step
        return step.answered(written(answer, self._words, show))

    def _typed(self, step: Step) -> Step:
        command, _, stdin = step.line.partition(" < ")
        if not stdin.startswith(("{", "!")):  # it is a file's name, if anything
            printed = self._kubectl.type(step.line)
        else:
            printed = self._kubectl.type(command, json.dumps(parse(self._filled(stdin), self._answer)))
        return step if step.answer is None else step.answered(printed.rstrip("\n"))

    async def _send(self, request: str, text: str | None, patch: str | None, headers: dict[str, str]) -> Answer:
        body = None if text is None else parse(self._filled(text), self._answer)
        if body is not None and not isinstance(body, str | bytes):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content-Type", PATCHES[patch] if patch else "application/json")
        answer = await self._raw(self._filled(request), body, headers=headers)
        if answer.content_type == "application/json":
            self._answer = answer.json
        return answer

    def _filled(self, text: str) -> str:
        text = text.replace("$NS", self._raw.namespace)
        if "$UID" in text or "$VERSION" in text:
            meta = self._answer["metadata"]
            text = text.replace("$UID", meta.get("uid", "")).replace("$VERSION", meta["resourceVersion"])
        return text
