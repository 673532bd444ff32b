"""How an answer is written in a transcript.

A refusal is its code, reason and details, its message, and its causes; a success its code and what it shows. Owners of
fields are written as in `one Update v1: .data .data.k`.
"""

import json
from collections.abc import Mapping
from typing import Any

from conformance.flow import keyed, lines
from conformance.requests import Answer
from conformance.volatile import Words


def written(answer: Answer, words: Words, show: str = "") -> str:
    """An answer as it stands in a transcript. `show` are paths to the only parts of it that count, or `code`."""
    if show == "code":
        return str(answer.code)
    head = [f"Warning: {words.text(each)}" for each in answer.warnings]
    media = answer.content_type.partition(";")[0]
    if media != "application/json":
        if answer.body or media:
            head.append(f"Content-Type: {answer.content_type}")
        return "\n".join([str(answer.code), *head, words.text(answer.body.decode()).rstrip("\n")]).rstrip("\n")
    shown = json.loads(answer.body)
    if isinstance(shown, dict) and shown.get("kind") == "Status" and answer.code >= 400:
        first, *rest = _refusal(answer.code, shown, words)
        return "\n".join([first, *head, *rest])
    shown = words.value(shown)
    if show:
        found = [each for path in show.split(",") for each in _found(shown, path)]
        rest = [line for path, value in found for line in keyed(path, value)]
    else:
        rest = lines(shown)
    return "\n".join([str(answer.code), *head, *rest])


def _refusal(code: int, status: dict[str, Any], words: Words) -> list[str]:
    assert status.pop("kind") == "Status", status
    assert status.pop("apiVersion") == "v1", status
    assert set(status.pop("metadata")) <= {"continue"}, status
    assert (status.pop("status"), status.pop("code")) == ("Failure", code), status
    details = status.pop("details", None)
    reason, message = status.pop("reason", ""), status.pop("message")
    assert not status, status
    found = [] if details is None else [_cause(each, message) for each in details.pop("causes", ())]
    if all(cause.startswith("FieldManagerConflict ") for cause in found):
        found.sort()  # those of several managers come in any order
    seconds = (details or {}).get("retryAfterSeconds", 0)
    after = [f"Retry-After: {seconds}"] if seconds else []
    first = " ".join(filter(None, [str(code), reason, "" if details is None else _about(details)]))
    return [words.text(first), *after, words.text(message), *(f"- {words.text(cause)}" for cause in found)]


def _about(details: Mapping[str, Any]) -> str:
    assert set(details) <= {"kind", "group", "name", "uid", "retryAfterSeconds"}, details
    kind = ".".join(part for part in (details.get("kind"), details.get("group")) if part)
    return " ".join(part for part in (kind, details.get("name"), details.get("uid")) if part) or "{}"


def _cause(cause: Mapping[str, str], message: str) -> str:
    """Reason and field of a cause; and its message, if the whole message lacks it."""
    about = " ".join(part for part in (cause.get("reason"), cause.get("field")) if part)
    told = f"{cause['field']}: {cause['message']}" if "field" in cause else cause["message"]
    return about if told in message else f"{about}: {cause['message']}"


def _found(value: Any, pattern: str) -> list[tuple[str, Any]]:
    """What is at a path such as `items.*.metadata.name`; nothing where there is no such field."""
    found = [("", value)]
    for step in pattern.split("."):
        found = [(f"{path}.{name}", inner) for path, each in found for name, inner in _inside(each, step)]
    return [(path.removeprefix("."), each) for path, each in found]


def _inside(value: Any, step: str) -> list[tuple[str, Any]]:
    named = {str(at): each for at, each in enumerate(value)} if isinstance(value, list) else value
    if not isinstance(named, dict):
        return []
    return [(name, each) for name, each in named.items() if step in ("*", name)]
