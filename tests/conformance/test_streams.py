"""Requests for logs, commands and connections, as far as an API server answers them without a node."""

import pytest

from conformance.access import Somebody, rule
from conformance.cases import Case, each
from conformance.objects import Thing, pod
from conformance.requests import Raw, Refused


def two() -> Thing:
    """A pod with an init container and two others."""
    containers = [{"name": name, "image": "x"} for name in ("a", "b")]
    return pod("p", containers=containers, initContainers=[{"name": "i", "image": "x"}])


ONE, TWO = [("POST pods", pod("p"))], [("POST pods", two())]
WHICH = "a container name must be specified for pod p, choose one of: [i a b]"


def bad(message: str) -> Refused:
    return Refused(400, "BadRequest", message)


def invalid(field: str, value: int, why: str) -> Refused:
    message = f'PodLogOptions "p" is invalid: {field}: Invalid value: {value}: {why}'
    return Refused(422, "Invalid", message, "PodLogOptions p", [f"FieldValueInvalid {field}"])


CASES = [
    Case("one of several containers must be named for logs", "GET pods/p/log", None, bad(WHICH), before=TWO),
    Case("one of several containers must be named for commands", "POST pods/p/exec", None, bad(WHICH), before=TWO),
    Case("logs of no container", "GET pods/p/log?container=x", None, bad("container x is not valid for pod p"),
         before=ONE),
    Case("a command in no container", "POST pods/p/exec?container=x", None, bad("container x is not valid for pod p"),
         before=ONE),
    Case("fewer lines than none", "GET pods/p/log?tailLines=-1", None,
         invalid("tailLines", -1, "must be greater than or equal to 0"), before=ONE),
    Case("fewer bytes than one", "GET pods/p/log?limitBytes=0", None,
         invalid("limitBytes", 0, "must be greater than 0"), before=ONE),
    Case("since no time ago", "GET pods/p/log?sinceSeconds=0", None,
         invalid("sinceSeconds", 0, "must be greater than 0"), before=ONE),
    Case("a port that is no number", "POST pods/p/portforward?ports=80,x", None,
         bad('cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax'), before=ONE),
    Case("a port that is too large", "POST pods/p/portforward?ports=65536", None,
         bad('cannot convert to []int32: strconv.ParseUint: parsing "65536": value out of range'), before=ONE),
    Case("a pod without an address has no proxy at all", "GET pods/p/proxy", None, bad("address not allowed"),
         before=ONE),
    Case("a pod without an address has no proxy", "GET pods/p/proxy/x", None, bad("address not allowed"), before=ONE),
    Case("too many colons for a proxy", "GET pods/a:b:c:d/proxy/x", None, bad('invalid pod request "a:b:c:d"'),
         before=ONE),
]  # fmt: skip


@each(CASES)
async def test_what_needs_no_node(raw: Raw, case: Case) -> None:
    await case.check(raw)


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
