"""A case: one request, after some others, and what it is answered. Its first words are the behaviour, in a sentence."""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from conformance.requests import Answer, Raw, Refused, Shows


@dataclass(frozen=True)
class Case:
    """One behaviour."""

    says: str
    request: str
    body: Any
    want: Refused | Shows
    before: Sequence[tuple[str, Any]] = ()
    """Requests that are sent first, and succeed."""
    patch: str = ""
    content: str = "application/json"
    accept: str = ""

    async def ask(self, raw: Raw) -> Answer:
        """What the request is answered, after the ones before it."""
        for request, body in self.before:
            await raw.ok(request, body, patch="merge" if request.startswith("PATCH") else "")
        return await raw(self.request, self.body, patch=self.patch, content=self.content, accept=self.accept)

    async def check(self, raw: Raw) -> None:
        """Ask, and compare."""
        answer = await self.ask(raw)
        if isinstance(self.want, Refused):
            assert answer.code >= 400, f"not refused: {answer.code} {answer.body.decode()}"
            assert answer.refusal == self.want.in_namespace(raw.namespace)
            return
        assert answer.code == self.want.code, answer.body.decode()
        assert answer.warnings == self.want.warnings
        want = json.loads(json.dumps(self.want.body).replace("{ns}", raw.namespace))
        assert part(answer.json, want) == want


def part(whole: Any, like: Any) -> Any:
    """As much of `whole` as `like` speaks of: objects are compared by the keys that `like` has, all else as it is."""
    if isinstance(like, Mapping) and isinstance(whole, Mapping):
        return {key: part(whole.get(key), value) for key, value in like.items()}
    if isinstance(like, list) and isinstance(whole, list) and len(like) == len(whole):
        return [part(one, other) for one, other in zip(whole, like, strict=True)]
    return whole


def each(cases: Sequence[Case]) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Any]:
    """Makes one test of each case."""
    return pytest.mark.parametrize("case", cases, ids=[case.says.replace(" ", "-") for case in cases])
