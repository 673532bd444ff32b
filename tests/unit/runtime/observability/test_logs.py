"""Log lines: the same facts for people and for machines, one line each, whatever is logged."""

import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from windvane.runtime.observability import logs


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def root_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    logging.captureWarnings(False)
    yield
    logging.captureWarnings(False)
    root.handlers[:] = before
    root.setLevel(level)


def json_line(log: Callable[[logging.Logger], None]) -> dict[str, Any]:
    stream = io.StringIO()
    logs.set_up_logging("json", "DEBUG", stream)
    log(logging.getLogger("test.logs"))
    (line,) = stream.getvalue().splitlines()
    found = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert isinstance(found, dict)
    return found


def console_lines(log: Callable[[logging.Logger], None], stream: io.StringIO | None = None) -> list[str]:
    stream = stream or io.StringIO()
    logs.set_up_logging("console", "DEBUG", stream)
    log(logging.getLogger("test.logs"))
    assert stream.getvalue().endswith("\n")
    return stream.getvalue()[:-1].split("\n")


def fixed(message: str, **extra: Any) -> Callable[[logging.Logger], None]:
    """A record of a moment that is known."""
    given = {"name": "test.logs", "levelname": "INFO", "levelno": logging.INFO, "msg": message, "created": 1.5}
    return lambda log: log.handle(logging.makeLogRecord(given | extra))


def failing(log: logging.Logger) -> None:
    try:
        raise ValueError("bad\n2026-11-16T01:30:05.123Z INFO     root  all is well")
    except ValueError:
        log.exception("it failed")


def test_a_line_of_json_has_time_level_logger_and_message() -> None:
    assert json_line(fixed("hello")) == {
        "time": "1970-01-01T00:00:01.500Z",
        "level": "INFO",
        "logger": "test.logs",
        "message": "hello",
    }


def test_arguments_are_put_into_the_message() -> None:
    assert json_line(lambda log: log.info("%d of %s", 3, "five"))["message"] == "3 of five"


def test_extra_fields_are_fields_of_the_line() -> None:
    line = json_line(lambda log: log.info("x", extra={"bytes": 3, "where": {"zone": ["a", None]}}))
    assert (line["bytes"], line["where"]) == (3, {"zone": ["a", None]})


def test_an_extra_field_does_not_pass_for_one_of_ours() -> None:
    line = json_line(lambda log: log.info("x", extra={"level": "none", "exception": "none"}))
    assert (line["level"], line["extra.level"], line["extra.exception"]) == ("INFO", "none", "none")
    assert "exception" not in line


def test_an_exception_is_a_field_of_the_line() -> None:
    line = json_line(failing)
    assert line["message"] == "it failed"
    assert line["exception"].startswith("Traceback (most recent call last):")
    assert "ValueError: bad" in line["exception"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), "nan"),
        ({1, 2}, "{1, 2}"),
        ({("a", "b"): 1}, "{('a', 'b'): 1}"),
        (Unprintable(), "<a Unprintable that can't be shown>"),
        ([Unprintable()], ["<a Unprintable that can't be shown>"]),
        ("half of a pair: \udc80", "half of a pair: \udc80"),
    ],
    ids=["nan", "set", "tuple as key", "bad repr", "bad repr within", "surrogate"],
)
def test_what_json_does_not_know_is_written_as_python_shows_it(value: object, written: object) -> None:
    assert json_line(lambda log: log.info("x", extra={"value": value}))["value"] == written


def test_a_circle_is_written_too() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert json_line(lambda log: log.info("x", extra={"value": circle}))["value"] == "[[...]]"


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_message_that_does_not_fit_its_arguments_is_not_lost(form: logs.Form) -> None:
    stream = io.StringIO()
    logs.set_up_logging(form, "INFO", stream)
    ours = logging.getLogger().handlers[-1]  # alone: pytest's own handlers would raise
    ours.handle(logging.makeLogRecord({"name": "x", "msg": "%d copies", "args": ("three",)}))
    assert "'%d copies' can't be written with ('three',): TypeError" in stream.getvalue()


def test_newlines_can_not_make_up_a_line_of_json() -> None:
    assert json_line(lambda log: log.info("a\n{}\r\u2028"))["message"] == "a\n{}\r\u2028"


def test_a_line_for_people_has_its_facts_in_columns() -> None:
    facts = {"trigger": "Website blog came", "controller": "websites.demo", "object": "default/blog", "reconcile": "x1"}
    (line,) = console_lines(fixed("hello", **facts, size=3))
    assert line == (
        "1970-01-01T00:00:01.500Z INFO     test.logs                   hello  "
        'controller=websites.demo object=default/blog reconcile=x1 trigger="Website blog came" size=3'
    )


def test_newlines_can_not_make_up_a_line_for_people() -> None:
    (line,) = console_lines(fixed("a\nb\r\x1b[2Jc\u2028", name="x\ny", fact="d\ne"))
    assert line.endswith(r'INFO     x\ny                        a\nb\r\x1b[2Jc\u2028  fact="d\ne"')


def test_a_traceback_stands_below_its_line_and_looks_like_no_other() -> None:
    first, *below = console_lines(failing)
    assert first.endswith("it failed")
    assert below[0] == "    Traceback (most recent call last):"
    assert all(each.startswith("    ") for each in below)
    assert below[-1] == "    2026-11-16T01:30:05.123Z INFO     root  all is well"


def test_what_a_stream_can_not_encode_is_escaped() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii")
    logs.set_up_logging("console", "INFO", stream)
    logging.getLogger("test.logs").info("3 → 5")
    stream.flush()
    assert rb"3 \u2192 5" in written.getvalue()


def test_a_terminal_sees_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    (line,) = console_lines(fixed("hello"), Terminal())
    assert "\x1b[32mINFO    \x1b[0m" in line


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colours_sees_none(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    (line,) = console_lines(fixed("hello"), Terminal())
    assert "\x1b" not in line


def test_what_is_below_the_level_is_not_written() -> None:
    stream = io.StringIO()
    logs.set_up_logging("console", "warning", stream)
    logging.getLogger("test.logs").info("quiet")
    assert stream.getvalue() == ""


def test_a_level_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no log level 'LOUD': DEBUG, INFO, WARNING, ERROR or CRITICAL"):
        logs.set_up_logging("console", "LOUD")


def test_to_set_up_twice_does_not_write_twice() -> None:
    first, second = io.StringIO(), io.StringIO()
    logs.set_up_logging("console", "INFO", first)
    logs.set_up_logging("json", "INFO", second)
    logging.getLogger("test.logs").info("once")
    assert first.getvalue() == ""
    assert len(second.getvalue().splitlines()) == 1


def test_handlers_of_others_stay() -> None:
    other = logging.NullHandler()
    logging.getLogger().addHandler(other)
    logs.set_up_logging("json", "INFO", io.StringIO())
    assert other in logging.getLogger().handlers


def test_warnings_are_lines_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        line = json_line(lambda log: warnings.warn("old ways", DeprecationWarning, stacklevel=1))
    assert (line["logger"], line["level"]) == ("py.warnings", "WARNING")
    assert "DeprecationWarning: old ways" in line["message"]
