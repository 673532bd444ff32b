"""What differs from run to run, and the words that stand for it in transcripts: this is the one place that knows."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from conformance.ownership import in_words
from windvane import ambient

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
PREFIX = re.compile(r'generateName: "?([\w-]+)')
LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # that the server makes up names of
LONG = re.compile(r"(\w)\1{99,}")
REPLACED = (
    (r"https://(127\.0\.0\.1|localhost):\d+", "SERVER"),
    (r"\beyJ[\w-]{20,}(\.[\w-]+)*", "TOKEN"),
    (r"(in record )\(\d+\)", r"\1(VERSION)"),
    # What a patch made, and can't be read, is quoted whole, with its times and uids.
    (r'(patch: Invalid value: )"\{.*?\}"(?=: )', r"\1OBJECT"),
)
# What kubectl prints, too; times are all of now there.
PRINTED = (
    (r"\+windvane\b", ""),  # the embedded server says what it is
    (r"\x1b\[[0-9;]*m", ""),
    (r"https://(127\.0\.0\.1|localhost):\d+", "SERVER"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "TIME"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (UID, "UID"),
    (r'(resourceVersion"?: )"\d+"', r'\1"VERSION"'),
    (r"/tmp/(LIVE|MERGED)-\d+/", r"\1/"),
    (r"(Resource Version: +)\d+", r"\1VERSION"),
    (r"/tmp/kubectl-edit-\d+", "FILE"),
    (r"\b\d+(?:s|m\d+s|d)\b", "AGE"),
    # What kubectl logs when its own --timeout cuts its watch: which line, if any, is a race between its goroutines.
    (r"[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ .* reflector\.go.*(very short watch|context deadline exceeded).*\n", ""),
    (r"\b[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "LOGGED "),
)
ALLOCATED = {"ADDRESS": re.compile(r"10\.0\.\d+\.\d+"), "PORT": re.compile(r"3[0-2]\d{3}")}
ALLOCATIONS = {"clusterIP": "ADDRESS", "clusterIPs": "ADDRESS", "nodePort": "PORT", "healthCheckNodePort": "PORT"}
A_WHILE = timedelta(days=2)  # times further away have been sent, or are part of what the server is


class Words:
    """The words of one scenario. A uid, a version or an address is numbered: it shows whether it is still the same.

    Who owns which fields is shown where a request says who writes, or asks for it.
    """

    def __init__(self, namespace: str, sent: str) -> None:
        """With all that is sent: it is no chance if that comes back."""
        self._namespace = namespace
        self._sent = sent
        self._owners_count = "fieldManager=" in sent or "managedFields" in sent
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}
        self._allocated: dict[str, dict[str, str]] = {word: {} for word in ALLOCATED}
        prefixes = "|".join(map(re.escape, PREFIX.findall(sent))) or "$."
        self._generated = re.compile(rf"({prefixes})[{LETTERS}]{{5}}(?![\w-])")

    def text(self, text: str) -> str:
        """The text with these words in place of what differs."""
        text = text.replace(self._namespace, "NS")
        text = self._generated.sub(r"\1RANDOM", text)
        for pattern, word in REPLACED:
            text = re.sub(pattern, word, text)
        text = LONG.sub(lambda found: f"({found[1]} {len(found[0])} times)", text)
        text = UID.sub(lambda found: self._uid(found[0]), text)
        return TIME.sub(lambda found: "TIME" if _recent(found[0]) else found[0], text)

    def value(self, value: Any, key: str = "") -> Any:
        """The same for a value that is JSON."""
        if isinstance(value, dict):
            shown = {key: item for key, item in sorted(value.items()) if key != "managedFields" or self._owners_count}
            return {self.text(key): self._field(key, item, value) for key, item in shown.items()}
        if isinstance(value, list):
            return [self.value(item, key) for item in value]
        if (word := ALLOCATIONS.get(key)) and ALLOCATED[word].fullmatch(str(value)) and str(value) not in self._sent:
            return _numbered(self._allocated[word], str(value), word)
        return self.text(value) if isinstance(value, str) else value

    def _field(self, key: str, value: Any, around: Mapping[str, Any]) -> Any:
        if key == "resourceVersion" and isinstance(value, str) and value.isdecimal() and not self._is_sent(value):
            return _numbered(self._versions, value, "VERSION") if "uid" in around else "LATEST"
        if key == "continue" and value:
            return "MORE"
        if key == "managedFields" and isinstance(value, list) and all("fieldsV1" in each for each in value):
            return in_words(value)
        return self.value(value, key)

    def _is_sent(self, version: str) -> bool:
        return f'resourceVersion: "{version}"' in self._sent

    def _uid(self, uid: str) -> str:
        return uid if uid in self._sent else _numbered(self._uids, uid, "UID")


def _numbered(known: dict[str, str], value: str, word: str) -> str:
    return known.setdefault(value, word if not known else f"{word}-{len(known) + 1}")


def _recent(time: str) -> bool:
    try:
        return abs(datetime.fromisoformat(time) - ambient.now()) < A_WHILE
    except ValueError:
        return False


def printed(text: str, namespace: str) -> str:
    """What kubectl printed, with these words; how wide a column is depends on what is in it: an age of 9s or 10s."""
    text = text.replace(namespace, "NS")
    for pattern, word in PRINTED:
        text = re.sub(pattern, word, text)
    return "\n".join(re.sub(r"(?<=\S) {2,}", "  ", line).rstrip() for line in text.splitlines())
