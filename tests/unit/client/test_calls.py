"""Calls: what is sent again, when, and what never is."""

import logging

import pytest

from unit.client.fakes import Answer, Clock, ScriptedTransport, answer, refusal
from windvane.client.calls import ATTEMPTS, RETRY, Calls
from windvane.client.errors import (
    APIError,
    Conflict,
    FateUnknown,
    InternalError,
    Interrupted,
    NotFound,
    TooManyRequests,
    Unavailable,
    Unreachable,
    Untrusted,
)
from windvane.client.transport import Request

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
WRITES = ["POST", "PUT", "PATCH", "DELETE"]
GOOD = answer({"kind": "Pod"})

pytestmark = pytest.mark.usefixtures("clock")


async def call(transport: ScriptedTransport, method: str = "GET") -> bytes:
    return await Calls(transport).call(Request(method, "/api/v1/pods/web"))


async def test_a_successful_answer_is_its_body() -> None:
    assert await call(ScriptedTransport(Answer(201, [b"{}"]))) == b"{}"


async def test_a_refusal_is_raised_at_once_as_what_it_is(clock: Clock) -> None:
    transport = ScriptedTransport(refusal(404, "NotFound", 'pods "web" not found'))
    with pytest.raises(NotFound, match='pods "web" not found'):
        await call(transport)
    assert len(transport.requests) == 1
    assert clock.slept == []


async def test_a_redirect_is_no_success() -> None:
    with pytest.raises(APIError, match="GET /api/v1/pods/web was answered with 302 Found"):
        await call(ScriptedTransport(Answer(302, headers={"Location": ["https://elsewhere"]})))


# The server says "not now".


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("code", [429, 503])
async def test_any_request_waits_as_long_as_the_server_asks_and_is_sent_again(
    method: str, code: int, clock: Clock
) -> None:
    transport = ScriptedTransport(refusal(code, headers={"retry-after": ["7"]}), GOOD)
    assert await call(transport, method) == b'{"kind": "Pod"}'
    assert clock.slept == [7]
    assert transport.requests[0] == transport.requests[1]


@pytest.mark.parametrize(("code", "error"), [(429, TooManyRequests), (503, Unavailable)])
@pytest.mark.parametrize("headers", [{}, {"Retry-After": ["Wed, 21 Oct 2026 07:28:00 GMT"]}, {"Retry-After": ["-1"]}])
async def test_a_busy_server_that_names_no_seconds_is_not_asked_again(
    code: int, error: type[APIError], headers: dict[str, list[str]]
) -> None:
    transport = ScriptedTransport(refusal(code, headers=headers))
    with pytest.raises(error):
        await call(transport)
    assert len(transport.requests) == 1


@pytest.mark.parametrize(("code", "error"), [(409, Conflict), (500, InternalError)])
async def test_retry_after_on_another_error_is_no_invitation(code: int, error: type[APIError]) -> None:
    transport = ScriptedTransport(refusal(code, headers={"Retry-After": ["1"]}))
    with pytest.raises(error):
        await call(transport)
    assert len(transport.requests) == 1


async def test_no_server_can_make_us_wait_for_a_day(clock: Clock) -> None:
    await call(ScriptedTransport(refusal(503, headers={"Retry-After": ["86400"]}), GOOD))
    assert clock.slept == [RETRY.most]


async def test_a_request_that_is_not_to_wait_tells_the_caller_at_once(clock: Clock) -> None:
    transport = ScriptedTransport(refusal(429, headers={"Retry-After": ["10"]}), GOOD)
    with pytest.raises(TooManyRequests):
        await Calls(transport).call(Request("POST", "/eviction", wait_if_asked=False))
    assert clock.slept == []


async def test_a_server_that_stays_busy_is_asked_five_times() -> None:
    busy = refusal(429, headers={"Retry-After": ["1"]}, message="slow down")
    transport = ScriptedTransport(*[busy] * 9)
    with pytest.raises(TooManyRequests, match="slow down"):
        await call(transport, "POST")
    assert len(transport.requests) == ATTEMPTS == 5


# Nothing was sent.


@pytest.mark.parametrize("method", METHODS)
async def test_any_request_that_was_never_sent_is_sent_again(method: str) -> None:
    transport = ScriptedTransport(Unreachable("refused"), Unreachable("refused"), GOOD)
    await call(transport, method)
    assert len(transport.requests) == 3


async def test_the_pauses_before_an_unreachable_server_grow(clock: Clock) -> None:
    with pytest.raises(Unreachable):
        await call(ScriptedTransport(*[Unreachable("refused")] * 5))
    assert clock.slept == sorted(set(clock.slept))
    assert len(clock.slept) == ATTEMPTS - 1


async def test_a_server_that_stays_unreachable_is_tried_five_times() -> None:
    transport = ScriptedTransport(*[Unreachable("refused")] * 9)
    with pytest.raises(Unreachable, match="refused"):
        await call(transport, "POST")
    assert len(transport.requests) == ATTEMPTS


@pytest.mark.parametrize("method", METHODS)
async def test_an_untrusted_server_is_never_asked_again(method: str) -> None:
    transport = ScriptedTransport(Untrusted("wrong certificate"), GOOD)
    with pytest.raises(Untrusted, match="wrong certificate"):
        await call(transport, method)
    assert len(transport.requests) == 1


# The connection broke before the answer was complete.


async def test_a_read_that_was_interrupted_is_sent_again() -> None:
    transport = ScriptedTransport(Interrupted("reset"), Answer(200, [b'{"ki'], then=Interrupted("cut")), GOOD)
    assert await call(transport) == b'{"kind": "Pod"}'


async def test_a_read_that_is_always_interrupted_is_tried_five_times() -> None:
    transport = ScriptedTransport(*[Interrupted("reset")] * 9)
    with pytest.raises(Interrupted, match="reset"):
        await call(transport)
    assert len(transport.requests) == ATTEMPTS


@pytest.mark.parametrize("method", WRITES)
@pytest.mark.parametrize("broken", [Interrupted("reset"), Answer(201, [b'{"ki'], then=Interrupted("reset"))])
async def test_a_write_that_was_interrupted_is_not_sent_again_and_says_what_to_do(
    method: str, broken: Answer | Exception
) -> None:
    transport = ScriptedTransport(broken, GOOD)
    with pytest.raises(FateUnknown, match=r"reset.*may or may not have done it: read the object before you repeat"):
        await call(transport, method)
    assert len(transport.requests) == 1


async def test_a_write_may_be_interrupted_after_it_was_put_off() -> None:
    transport = ScriptedTransport(refusal(429, headers={"Retry-After": ["1"]}), Interrupted("reset"), GOOD)
    with pytest.raises(FateUnknown):
        await call(transport, "POST")
    assert len(transport.requests) == 2


async def test_all_kinds_of_failures_count_as_attempts() -> None:
    busy = refusal(503, headers={"Retry-After": ["1"]})
    transport = ScriptedTransport(Unreachable("a"), busy, Interrupted("b"), busy, Unreachable("c"), GOOD)
    with pytest.raises(Unreachable, match="c"):
        await call(transport)
    assert len(transport.requests) == ATTEMPTS


async def test_the_log_says_why_a_request_is_sent_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    busy = refusal(429, message="slow down", headers={"Retry-After": ["3"]})
    await call(ScriptedTransport(Unreachable("connection refused"), busy, GOOD))
    first, second = caplog.messages
    assert "GET /api/v1/pods/web" in first
    assert "connection refused" in first
    assert "slow down" in second
    assert "3.0 s" in second


# Warnings.


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ('299 - "policy/v1beta1 is deprecated"', "policy/v1beta1 is deprecated"),
        (r'299 - "unknown field \"spec.sise\""', 'unknown field "spec.sise"'),
        (r'299 - "C:\\temp is no path"', r"C:\temp is no path"),
        ("not as it should be", "not as it should be"),
    ],
)
async def test_warnings_of_the_server_are_logged(header: str, text: str, caplog: pytest.LogCaptureFixture) -> None:
    await call(ScriptedTransport(Answer(200, [b"{}"], {"Warning": [header]})))
    assert caplog.messages == [f"GET /api/v1/pods/web: {text}"]
    assert caplog.records[0].levelno == logging.WARNING


async def test_every_warning_is_logged_also_when_the_request_fails(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(NotFound):
        await call(ScriptedTransport(refusal(404, headers={"Warning": ['299 - "one"', '299 - "two"']})))
    assert [message.rpartition(" ")[2] for message in caplog.messages] == ["one", "two"]


# Streams.


async def test_a_stream_is_there_before_its_body_is() -> None:
    transport = ScriptedTransport(Answer(200, [b"a", b"b"]))
    async with Calls(transport).stream(Request("GET", "/log")) as response:
        assert [chunk async for chunk in response.chunks()] == [b"a", b"b"]
    assert transport.open_now == 0


@pytest.mark.parametrize(
    "failure", [Unreachable("no"), Interrupted("no"), refusal(429, "TooManyRequests", headers={"Retry-After": ["1"]})]
)
async def test_a_stream_is_tried_once(failure: Answer | Exception) -> None:
    transport = ScriptedTransport(failure, GOOD)
    with pytest.raises((Unreachable, Interrupted, TooManyRequests)):
        async with Calls(transport).stream(Request("GET", "/log")):
            pass
    assert len(transport.requests) == 1


async def test_a_refused_stream_is_raised_as_what_it_is() -> None:
    with pytest.raises(NotFound, match="no such pod"):
        async with Calls(ScriptedTransport(refusal(404, "NotFound", "no such pod"))).stream(Request("GET", "/log")):
            pass


async def test_warnings_on_a_stream_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    transport = ScriptedTransport(Answer(200, headers={"Warning": ['299 - "old"']}))
    async with Calls(transport).stream(Request("GET", "/log")):
        assert caplog.messages == ["GET /log: old"]
