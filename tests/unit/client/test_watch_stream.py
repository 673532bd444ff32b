"""Watches: each event once, whatever happens to the connections, or an error that says to start again."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.client.fakes import (
    Answer,
    Clock,
    ScriptedResponse,
    ScriptedTransport,
    ScriptEnded,
    answer,
    config_map,
    refusal,
    status,
)
from windvane import ambient
from windvane.client import watch_stream
from windvane.client.client import Client
from windvane.client.credentials import CredentialsError
from windvane.client.errors import (
    APIError,
    BadRequest,
    ClientError,
    Forbidden,
    Gone,
    Interrupted,
    Invalid,
    NotFound,
    ServerTimeout,
    TooManyRequests,
    Unavailable,
    Unreachable,
    Unreadable,
    Untrusted,
)
from windvane.client.transport import Request, Transport
from windvane.client.watch_stream import GRACE, RETRY, WatchEvent, lines
from windvane.k8s.core import ConfigMap

pytestmark = pytest.mark.usefixtures("clock")


def frame(type_: str, thing: dict[str, Any]) -> bytes:
    return json.dumps({"type": type_, "object": thing}).encode() + b"\n"


def added(name: str, version: str) -> bytes:
    return frame("ADDED", config_map(name, version))


def bookmark(version: str, *, initial_end: bool = False) -> bytes:
    annotations = {"annotations": {"k8s.io/initial-events-end": "true"}} if initial_end else {}
    metadata = {"resourceVersion": version, "creationTimestamp": None, **annotations}
    return frame("BOOKMARK", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})


def short(event: WatchEvent[ConfigMap]) -> str:
    end = " end" if event.initial_end else ""
    return f"{event.type} {event.item.meta.name}@{event.item.meta.resource_version}{end}"


async def watched(transport: Transport, *, version: str = "5", initial: bool = False) -> list[str]:
    """All events until the script ends."""
    seen: list[str] = []
    events = Client(transport).watch(ConfigMap, resource_version="" if initial else version, initial=initial)
    with suppress(ScriptEnded):
        while True:
            seen.append(short(await anext(events)))
    return seen


async def failure(transport: ScriptedTransport, *, initial: bool = False) -> ClientError:
    """What a watch ends with."""
    with pytest.raises(ClientError) as caught:
        await watched(transport, initial=initial)
    return caught.value


# What is asked.


async def test_a_watch_asks_for_bookmarks_and_an_end_and_carries_the_selectors() -> None:
    transport = ScriptedTransport(Answer())
    events = Client(transport).watch(
        ConfigMap, namespace="web", labels={"app": "web"}, fields="metadata.name=a", resource_version="5"
    )
    with pytest.raises(ScriptEnded):
        await anext(events)
    assert transport.requests[0].path == "/api/v1/namespaces/web/configmaps"
    assert transport.query(0) == {
        "labelSelector": "app=web",
        "fieldSelector": "metadata.name=a",
        "watch": "true",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "600",
        "resourceVersion": "5",
    }


@given(st.floats(0.5, 1.0))
async def test_the_server_is_asked_to_end_a_watch_after_five_to_ten_minutes(share: float) -> None:
    class Jittery(Clock):
        def jitter(self, seconds: float) -> float:
            return seconds * share

    transport = ScriptedTransport()
    with ambient.use(Jittery()):
        await watched(transport)
    assert 300 <= int(transport.query()["timeoutSeconds"]) <= 600
    assert transport.requests[0].timeout == int(transport.query()["timeoutSeconds"]) + GRACE


async def test_a_watch_without_a_version_starts_now() -> None:
    # The server would begin with what is there, in no order that a second connection could resume.
    now = answer({"kind": "ConfigMapList", "metadata": {"resourceVersion": "70", "continue": "t"}, "items": []})
    transport = ScriptedTransport(now, Answer(200, [added("a", "71")]))
    assert await watched(transport, version="") == ["ADDED a@71"]
    assert transport.query(0) == {"limit": "1"}
    assert transport.query(1)["resourceVersion"] == "70"


async def test_credentials_that_fail_for_a_moment_do_not_end_a_watch() -> None:
    transport = ScriptedTransport(
        Answer(200, [added("a", "6")]), CredentialsError("the plugin failed"), Answer(200, [added("b", "7")])
    )
    assert await watched(transport) == ["ADDED a@6", "ADDED b@7"]
    assert transport.query(2)["resourceVersion"] == "6"


async def test_a_bookmark_has_no_object_and_says_where_its_version_is() -> None:
    event = watch_stream.read_event(bookmark("9"), ConfigMap)
    with pytest.raises(ValueError, match=r"only a version: event\.item\.meta\.resource_version"):
        _ = event.object


async def test_initial_and_a_version_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="not both"):
        Client(ScriptedTransport()).watch(ConfigMap, resource_version="5", initial=True)


# Events.


async def test_an_event_has_its_type_and_object() -> None:
    transport = ScriptedTransport(Answer(200, [frame("MODIFIED", config_map("a", "6", key="value"))]))
    event = await anext(Client(transport).watch(ConfigMap, resource_version="5"))
    assert event.type == "MODIFIED"
    assert event.object.data == {"key": "value"}


async def test_an_events_object_is_made_anew_each_time() -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6")]))
    event = await anext(Client(transport).watch(ConfigMap, resource_version="5"))
    event.object.data["mine"] = "yes"
    assert event.object.data == {}


async def test_several_events_in_one_chunk_and_one_event_in_several_are_all_seen() -> None:
    whole = added("a", "6") + added("b", "7") + added("c", "8")
    transport = ScriptedTransport(Answer(200, [whole[:150], whole[150:160], whole[160:]]))
    assert await watched(transport) == ["ADDED a@6", "ADDED b@7", "ADDED c@8"]


async def test_leaving_a_watch_closes_its_connection() -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6"), added("b", "7")]))
    events = Client(transport).watch(ConfigMap, resource_version="5")
    await anext(events)
    assert transport.open_now == 1
    await events.aclose()
    assert transport.open_now == 0


# Resuming.


async def test_after_a_clean_end_a_watch_goes_on_from_the_last_event() -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6"), added("b", "9")]), Answer(200, [added("c", "10")]))
    assert await watched(transport) == ["ADDED a@6", "ADDED b@9", "ADDED c@10"]
    assert [transport.query(index)["resourceVersion"] for index in range(3)] == ["5", "9", "10"]


async def test_a_resumed_watch_asks_for_the_same() -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6")]))
    await watched(transport)
    assert transport.query(1) == {**transport.query(0), "resourceVersion": "6"}


@pytest.mark.parametrize("error", [Interrupted("reset"), Unreachable("refused")])
async def test_after_a_broken_connection_a_watch_goes_on_from_the_last_event(error: ClientError) -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6")], then=error), error, Answer(200, [added("b", "7")]))
    assert await watched(transport) == ["ADDED a@6", "ADDED b@7"]
    assert [transport.query(index)["resourceVersion"] for index in range(4)] == ["5", "6", "6", "7"]


async def test_half_an_event_is_not_seen_and_comes_again() -> None:
    transport = ScriptedTransport(
        Answer(200, [added("a", "6") + added("b", "7")[:-30]]), Answer(200, [added("b", "7")])
    )
    assert await watched(transport) == ["ADDED a@6", "ADDED b@7"]
    assert transport.query(1)["resourceVersion"] == "6"


async def test_an_event_without_its_line_end_counts_as_half_an_event() -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6").rstrip()]), Answer(200, [added("a", "6")]))
    assert await watched(transport) == ["ADDED a@6"]


async def test_a_bookmark_moves_the_version() -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6"), bookmark("90")]), Answer())
    assert await watched(transport) == ["ADDED a@6", "BOOKMARK @90"]
    assert transport.query(1)["resourceVersion"] == "90"


async def test_an_object_without_a_version_does_not_make_us_forget_where_we_were() -> None:
    nameless = frame("MODIFIED", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}})
    transport = ScriptedTransport(Answer(200, [added("a", "6"), nameless]))
    await watched(transport)
    assert transport.query(1)["resourceVersion"] == "6"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (500, "ServerTimeout"),
        (502, ""),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ],
)
async def test_a_server_in_trouble_is_asked_again_later(code: int, reason: str, clock: Clock) -> None:
    transport = ScriptedTransport(refusal(code, reason), Answer(200, [added("a", "6")]))
    assert await watched(transport) == ["ADDED a@6"]
    assert clock.slept[0] > 0


async def test_trouble_that_is_reported_as_an_event_is_over_after_a_pause_too(clock: Clock) -> None:
    trouble = frame("ERROR", status(500, "InternalError", "etcd is slow"))
    transport = ScriptedTransport(Answer(200, [added("a", "6"), trouble]), Answer(200, [added("b", "7")]))
    assert await watched(transport) == ["ADDED a@6", "ADDED b@7"]
    assert clock.slept[0] > 0


class History:
    """A server that knows `length` events after version 100, and whose connections break as they are told to."""

    def __init__(self, length: int, breaks: list[tuple[int, Exception | None]]) -> None:
        self._length = length
        self._breaks = iter(breaks)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[ScriptedResponse]:
        since = int(dict(request.query)["resourceVersion"])
        stream = b"".join(added(f"n{version}", str(version)) for version in range(since + 1, 101 + self._length))
        size, error = next(self._breaks, (len(stream), ScriptEnded()))
        yield ScriptedResponse(Answer(200, [stream[:size]], then=error))

    def websocket(self, request: Request, protocols: object) -> Any:
        raise NotImplementedError

    async def close(self) -> None: ...


@given(
    st.integers(0, 8),
    st.lists(st.tuples(st.integers(0, 1500), st.sampled_from([None, Interrupted("reset"), Unreachable("no")]))),
)
async def test_wherever_connections_break_each_event_is_seen_exactly_once(
    length: int, breaks: list[tuple[int, Exception | None]]
) -> None:
    with ambient.use(Clock()):
        seen = await watched(History(length, breaks), version="100")
    assert seen == [f"ADDED n{version}@{version}" for version in range(101, 101 + length)]


# Pauses.


async def test_a_server_that_ends_watches_at_once_is_asked_with_growing_pauses(clock: Clock) -> None:
    await watched(ScriptedTransport(*[Answer()] * 12))
    assert clock.slept == sorted(clock.slept)
    assert clock.slept[0] < 2
    assert clock.slept[-1] == RETRY.most


async def test_a_server_that_breaks_watches_at_once_is_asked_with_growing_pauses(clock: Clock) -> None:
    await watched(ScriptedTransport(*[Unreachable("refused")] * 12))
    assert clock.slept == sorted(clock.slept)
    assert clock.slept[-1] == RETRY.most


async def test_an_event_makes_pauses_short_again(clock: Clock) -> None:
    await watched(ScriptedTransport(*[Answer()] * 12, Answer(200, [added("a", "6")]), Answer()))
    assert clock.slept[12] == clock.slept[0]


async def test_a_watch_that_lasted_is_resumed_without_a_pause(clock: Clock) -> None:
    def ten_minutes() -> None:
        clock.passed += 600

    await watched(ScriptedTransport(Answer(then=ten_minutes), Answer(then=ten_minutes)))
    assert clock.slept == []


# The end.


async def test_an_error_event_that_says_too_old_is_gone() -> None:
    too_old = frame("ERROR", status(410, "Expired", "too old resource version: 5 (90)"))
    error = await failure(ScriptedTransport(Answer(200, [added("a", "6"), too_old])))
    assert isinstance(error, Gone)
    assert "too old resource version" in str(error)


async def test_an_answer_that_says_too_old_is_gone() -> None:
    assert isinstance(await failure(ScriptedTransport(refusal(410, "Expired"))), Gone)


async def test_too_old_after_a_break_is_gone() -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6")], then=Interrupted("reset")), refusal(410, "Gone"))
    assert isinstance(await failure(transport), Gone)


@pytest.mark.parametrize(
    ("code", "expected"), [(400, BadRequest), (403, Forbidden), (404, NotFound), (422, Invalid), (302, APIError)]
)
async def test_what_no_waiting_will_cure_is_raised(code: int, expected: type[APIError]) -> None:
    error = await failure(ScriptedTransport(refusal(code)))
    assert type(error) is expected


async def test_a_server_that_is_not_to_be_trusted_is_not_asked_again() -> None:
    transport = ScriptedTransport(Answer(200, [added("a", "6")]), Untrusted("wrong certificate"))
    assert isinstance(await failure(transport), Untrusted)
    assert len(transport.requests) == 2


@pytest.mark.parametrize(
    "line",
    [
        b"<html>captive portal</html>",
        b'{"type": "ADDED"}',
        b'{"type": "LAUNCHED", "object": {}}',
        b'{"type": "ADDED", "object": []}',
        b'{"type": "ADDED", "object": {"metadata": {"name": "\xff"}}}',
        b'{"type": "ERROR", "object": 3}',
        b"\xff\xfe",
        b"[]",
    ],
)
async def test_a_line_that_is_no_event_is_unreadable(line: bytes) -> None:
    error = await failure(ScriptedTransport(Answer(200, [added("a", "6"), line + b"\n"])))
    assert isinstance(error, Unreadable)
    assert "not a watch event" in str(error)


async def test_what_cannot_be_read_is_shown_in_part() -> None:
    error = await failure(ScriptedTransport(Answer(200, [b"<html>" + b"x" * 100_000 + b"\n"])))
    assert "<html>xxx" in str(error)
    assert len(str(error)) < 400


# What is there first.


def initial_stream(*tail: bytes) -> Answer:
    return Answer(200, [added("a", "3"), added("b", "2"), bookmark("9", initial_end=True), *tail])


async def test_what_is_there_comes_first_on_the_same_connection_and_its_end_is_marked() -> None:
    transport = ScriptedTransport(initial_stream(added("c", "10")))
    assert await watched(transport, initial=True) == ["ADDED a@3", "ADDED b@2", "BOOKMARK @9 end", "ADDED c@10"]
    assert transport.query(0)["sendInitialEvents"] == "true"
    assert transport.query(0)["resourceVersionMatch"] == "NotOlderThan"
    assert "resourceVersion" not in transport.query(0)


async def test_an_object_that_carries_the_mark_is_not_the_end() -> None:
    metadata = {"name": "a", "resourceVersion": "3", "annotations": {"k8s.io/initial-events-end": "true"}}
    impostor = frame("ADDED", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})
    transport = ScriptedTransport(Answer(200, [impostor, bookmark("9", initial_end=True)]))
    assert await watched(transport, initial=True) == ["ADDED a@3", "BOOKMARK @9 end"]


async def test_after_what_is_there_a_watch_is_resumed_as_any_other() -> None:
    transport = ScriptedTransport(initial_stream(), Answer(200, [added("c", "10")]))
    assert (await watched(transport, initial=True))[-1] == "ADDED c@10"
    assert transport.query(1)["resourceVersion"] == "9"
    assert "sendInitialEvents" not in transport.query(1)
    assert "resourceVersionMatch" not in transport.query(1)


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (Answer(200, [added("a", "3")], then=Interrupted("reset")), Interrupted),
        (Answer(200, [added("a", "3")]), Interrupted),
        (Answer(200, [added("a", "3")[:-9]]), Interrupted),
        (Answer(200, [added("a", "3"), frame("ERROR", status(500, "ServerTimeout"))]), ServerTimeout),
        (Answer(200, [added("a", "3"), frame("ERROR", status(400, "BadRequest"))]), BadRequest),
        (Unreachable("refused"), Unreachable),
        (refusal(503, "ServiceUnavailable"), Unavailable),
        (refusal(429, "TooManyRequests"), TooManyRequests),
        (refusal(403, "Forbidden"), Forbidden),
    ],
)
async def test_what_breaks_before_the_end_of_what_is_there_is_raised(
    broken: Answer | Exception, expected: type[ClientError]
) -> None:
    transport = ScriptedTransport(broken, initial_stream())
    assert type(await failure(transport, initial=True)) is expected
    assert len(transport.requests) == 1


@pytest.mark.parametrize("refused", [refusal(422, "Invalid"), refusal(400, "BadRequest")])
async def test_a_server_without_streaming_lists_is_listed_in_pages_and_watched_from_there(refused: Answer) -> None:
    def page(version: str, resume: str, *names: str) -> Answer:
        items = [config_map(name) for name in names]
        return answer({"metadata": {"resourceVersion": version, "continue": resume}, "items": items})

    transport = ScriptedTransport(
        refused, page("40", "t1", "a", "b"), page("40", "", "c"), Answer(200, [added("d", "41")])
    )
    seen = await watched(transport, initial=True)
    assert seen == ["ADDED a@1", "ADDED b@1", "ADDED c@1", "BOOKMARK @40 end", "ADDED d@41"]
    assert transport.query(1) == {"limit": "500"}
    assert transport.query(3)["resourceVersion"] == "40"
    assert "sendInitialEvents" not in transport.query(3)


async def test_a_page_that_fails_ends_the_watch() -> None:
    first = answer({"metadata": {"resourceVersion": "40", "continue": "t1"}, "items": [config_map("a")]})
    transport = ScriptedTransport(refusal(422, "Invalid"), first, refusal(410, "Expired"))
    assert isinstance(await failure(transport, initial=True), Gone)


async def test_a_selector_that_the_server_refuses_is_not_mistaken_for_a_lack_of_streaming() -> None:
    nonsense = refusal(400, "BadRequest", "field label not supported: spec.nonsense")
    error = await failure(ScriptedTransport(nonsense, nonsense), initial=True)
    assert isinstance(error, BadRequest)
    assert "spec.nonsense" in str(error)


# Lines.


async def split(chunks: list[bytes]) -> list[bytes]:
    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [line async for line in lines(stream())]


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in pairwise(bounds)]


@given(st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line)), st.lists(st.integers(0)))
async def test_lines_are_the_same_however_the_stream_is_cut(content: list[bytes], places: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in content)
    assert await split(cut(stream, places)) == content


async def test_empty_lines_are_passed_over() -> None:
    assert await split([b"\na\n\n\nb\n\n"]) == [b"a", b"b"]


async def test_a_stream_that_ends_within_a_line_was_interrupted() -> None:
    with pytest.raises(Interrupted, match="in the middle of an event, after 3 bytes"):
        await split([b"whole\nhal"])


async def test_a_line_without_end_is_not_read_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_stream, "LONGEST_LINE", 100)
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 30
            yield b"x" * 30

    with pytest.raises(Unreadable, match="longer than 100 bytes"):
        await anext(lines(endless()))
    assert read <= 130


async def test_long_lines_within_the_limit_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_stream, "LONGEST_LINE", 100)
    assert await split([b"x" * 60, b"y" * 40, b"\n"]) == [b"x" * 60 + b"y" * 40]
