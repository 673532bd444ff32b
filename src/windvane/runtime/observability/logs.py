"""Log lines, for people or for machines: `windvane run` sets one of the two forms up; one of your own stays.

    2026-11-16T01:30:05.123Z INFO     windvane.Website            scaled  controller=websites.demo object=default/blog …
    {"time": "2026-11-16T01:30:05.123Z", "level": "INFO", "logger": "windvane.Website", "message": "scaled", …}

A line is one line whatever is in it: words that get into a message can't make up a line. And writing
a log never fails: what can't be written as it is, is written as Python would show it.
"""

import json
import logging
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from windvane.runtime.observability.current_pass import current_pass

Form = Literal["console", "json"]

FACTS = ("controller", "object", "reconcile", "trigger")
"""What a line that is written during a pass says about it, in this order."""

_OURS = frozenset({"time", "level", "logger", "message", "exception", "stack"})
"""What a line of JSON has of its own, which no `extra=` may pass for."""

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; anything else was given with `extra=`."""


def set_up_logging(form: Form, level: str | int = "INFO", stream: TextIO = sys.stderr) -> None:
    """Have everything that is logged in this process written to `stream`, in one form.

    Handlers that others put on the root logger stay; what an earlier call of this function put there goes.
    """
    formatter = _JSON() if form == "json" else _Console(stream)
    handler = _Handler(stream)
    handler.setFormatter(formatter)
    handler.addFilter(_add_facts)
    root = logging.getLogger()
    root.setLevel(_level(level))
    for earlier in [each for each in root.handlers if isinstance(each, _Handler)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    logging.captureWarnings(True)  # else they would be lines of their own form among the others


class _Handler(logging.StreamHandler[TextIO]):
    """Ours, to be told from those of others."""


def _add_facts(record: logging.LogRecord) -> bool:
    """Put the pass that is going on into a record, whatever logs it: the author's code, ours, or a library."""
    if (this := current_pass()) is not None:
        vars(record).update(this.facts())
    return True


class _JSON(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
        }
        for name, value in _extra(record).items():
            line[f"extra.{name}" if name in _OURS else name] = value
        if exception := _exception(self, record):
            line["exception"] = exception
        if record.stack_info:
            line["stack"] = record.stack_info
        # In ASCII, with escapes: then no encoding of the stream, nor half of a surrogate pair, can be a problem.
        return "{" + ", ".join(f"{json.dumps(str(name))}: {_as_json(value)}" for name, value in line.items()) + "}"


class _Console(logging.Formatter):
    """One line for people, with the traceback below it, indented."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._coloured = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def format(self, record: logging.LogRecord) -> str:
        level = self._paint(f"{record.levelname:8}", _COLOURS.get(record.levelno, ""))
        facts = " ".join(f"{_printable(name)}={_as_word(value)}" for name, value in _extra(record).items())
        head = f"{_time(record)} {level} {_printable(record.name):27} {_printable(_message(record))}"
        lines = [f"{head}  {self._paint(facts, _DIM)}" if facts else head]
        # Indented, so that a message with newlines in it can't look like the next line of the log.
        for below in (_exception(self, record), record.stack_info or ""):
            lines += [f"    {_printable(each)}" for each in below.splitlines()]
        return "\n".join(lines).encode(self._encoding, "backslashreplace").decode(self._encoding)

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._coloured and colour else text


_DIM = "2"
_COLOURS = {
    logging.DEBUG: _DIM,
    logging.INFO: "32",
    logging.WARNING: "33",
    logging.ERROR: "31",
    logging.CRITICAL: "1;31",
}


def _level(level: str | int) -> int:
    if isinstance(level, int):
        return level
    levels = logging.getLevelNamesMapping()
    if (found := levels.get(level.upper())) is None:
        raise ValueError(f"there is no log level {level!r}: DEBUG, INFO, WARNING, ERROR or CRITICAL")
    return found


def _time(record: logging.LogRecord) -> str:
    """RFC 3339, in UTC, with milliseconds."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # noqa: BLE001 - a message that doesn't fit its arguments, or a __str__ that raises
        return f"{_repr(record.msg)} can't be written with {_repr(record.args)}: {type(error).__name__}"


def _extra(record: logging.LogRecord) -> Mapping[str, Any]:
    """What a record has beside the usual: first the facts about its pass."""
    given = vars(record)
    facts = {name: given[name] for name in FACTS if name in given}
    return facts | {name: value for name, value in given.items() if name not in _STANDARD}


def _exception(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    """The traceback that a record comes with."""
    if record.exc_info and not record.exc_text:
        record.exc_text = formatter.formatException(record.exc_info)
    return record.exc_text or ""


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False, default=_repr)
    except Exception:  # noqa: BLE001 - NaN, keys that are no strings, circles: none is worth losing the line
        return json.dumps(_repr(value))


def _as_word(value: object) -> str:
    """A value as it is, if that is one word; in quotes otherwise."""
    if not isinstance(value, str):
        return _printable(_repr(value))
    if value and value.isprintable() and " " not in value and '"' not in value:
        return value
    return _printable(json.dumps(value, ensure_ascii=False))


def _printable(text: str) -> str:
    """Everything that could end the line, or change what a terminal shows of it, as an escape."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - a __repr__ of the author's
        return f"<a {type(value).__name__} that can't be shown>"
