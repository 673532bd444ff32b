"""Requests for logs, commands and connections, as far as an API server answers them without a node."""

import pytest

from conformance.access import Somebody, rule
from conformance.objects import pod
from conformance.requests import Raw, Refused


def bad(message: str) -> Refused:
    return Refused(400, "BadRequest", message)


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward"])
async def test_whoever_may_only_get_may_not_open_a_connection(raw: Raw, subresource: str) -> None:
    await raw.ok("POST pods", pod("p"))
    somebody = Somebody(raw)
    await somebody.may(rule("get", f"pods/{subresource}"))
    answer = await somebody(f"GET pods/p/{subresource}")
    assert answer.refusal == Refused(403, "Forbidden", 'pods "p" is forbidden: ', "pods p")
    await somebody.may(rule("create", f"pods/{subresource}"), name="more")
    answer = await somebody(f"GET pods/p/{subresource}")
    assert answer.refusal == bad("pod p does not have a host assigned")
