"""What `windvane dev` tells in lines: passes, conditions, the log, changes of CRDs; and each reader has all of it."""

import asyncio
from typing import Any

import pytest

from everything import Everything
from windvane import ambient, crd
from windvane.api.resource import object_to_wire
from windvane.cli.dev.definitions import definition_changes
from windvane.cli.dev.line_output import condition_changes, is_repetition, pass_line
from windvane.cli.dev.log_lines import LogLine, read_line
from windvane.cli.dev.transcript import Transcript
from windvane.runtime.observability.history import Pass, Trigger, Write


def test_a_pass_is_told_with_why_and_what_and_when_again() -> None:
    done = Pass(
        id="1",
        kind="Website",
        namespace="default",
        name="blog",
        began=ambient.now(),
        triggers=[Trigger("a timer"), Trigger("a timer"), Trigger("Deployment blog changed")],
        writes=[Write(f"apply services s{number}") for number in range(8)],
        seconds=1.5,
        result="failed",
        message="ouch",
        again=0.25,
    )
    assert pass_line(done) == (
        "Website default/blog  because a timer, Deployment blog changed  → failed: ouch in 1.5 s; wrote "
        "apply services s0, apply services s1, apply services s2, apply services s3, apply services s4, "
        "apply services s5 and 2 more; again in 250 ms"
    )


def timer_pass(*writes: str, again: float | None = 1.0, trigger: str = "a timer", resource: str = "") -> Pass:
    return Pass(
        id="1",
        namespace="a",
        name="b",
        began=ambient.now(),
        triggers=[Trigger(trigger, resource=resource)],
        writes=[Write(each) for each in writes],
        result="done",
        again=again,
    )


def test_what_a_timer_brings_again_and_again_is_told_once() -> None:
    assert is_repetition(timer_pass(), timer_pass())
    assert not is_repetition(None, timer_pass())
    assert not is_repetition(timer_pass("apply"), timer_pass())
    assert not is_repetition(timer_pass(), timer_pass("apply"))
    assert not is_repetition(timer_pass(), timer_pass(again=10.0))
    assert not is_repetition(timer_pass(), timer_pass(trigger="Pod p changed", resource="pods"))


def conditions(*found: tuple[str, str, str, str]) -> dict[str, Any]:
    keys = ("type", "status", "reason", "message")
    return {"status": {"conditions": [dict(zip(keys, each, strict=True)) for each in found]}}


def test_only_conditions_that_say_something_else_are_told() -> None:
    before = conditions(("Ready", "True", "Up", "all"), ("Other", "True", "A", ""))
    after = conditions(("Ready", "False", "Down", "none"), ("Other", "True", "A", ""), ("New", "True", "B", ""))
    assert list(condition_changes(before, after)) == ["Ready is False (Down): none", "New is True (B)"]
    assert list(condition_changes({}, {"status": None})) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hello", LogLine(message="hello")),
        ("{'a': 1}", LogLine(message="{'a': 1}")),
        ('{"message": "mine"}', LogLine(message='{"message": "mine"}')),
        (
            '{"time": "2026-01-02T03:04:05.678Z", "level": "ERROR", "message": "m", "o": "a/b", "exception": "T\\nE"}',
            LogLine(message="m", level="ERROR", time="03:04:05.678", facts="o=a/b", exception="T\nE"),
        ),
        (
            '{"level": "WARNING", "logger": "l", "message": "by the code below", "stack": "S\\n  x()"}',
            LogLine(message="by the code below", level="WARNING", logger="l", exception="S\n  x()"),
        ),
    ],
)
def test_what_the_process_writes_is_read_as_its_log_or_as_print(text: str, line: LogLine) -> None:
    assert read_line(text) == line


def test_what_is_new_and_gone_in_a_crd_is_told_by_field_and_column() -> None:
    before, after = object_to_wire(crd(Everything)), object_to_wire(crd(Everything))
    version = after["spec"]["versions"][0]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    gone = next(iter(spec))
    del spec[gone]
    spec["fresh"] = {"type": "object", "properties": {"inner": {"type": "string"}}}
    version["additionalPrinterColumns"] = [{"name": "Fresh", "type": "string", "jsonPath": ".spec.fresh"}]
    said = definition_changes(before, after)
    assert said.startswith(f"spec.fresh is new, spec.fresh.inner is new, spec.{gone} is gone")
    assert definition_changes(before, before) == "what its fields may be, or how they are described"


async def test_each_reader_has_all_from_the_beginning_until_it_is_closed() -> None:
    said: Transcript[int] = Transcript(most=3)
    for number in range(5):
        said.add(number)

    async def read() -> list[int]:
        return [each async for each in said.read()]

    readers = [asyncio.ensure_future(read()) for _ in range(2)]
    await ambient.sleep(0)
    said.add(5)
    await ambient.sleep(0)
    said.close()
    assert await asyncio.gather(*readers) == [[2, 3, 4, 5], [2, 3, 4, 5]]
    assert await read() == [3, 4, 5]
