"""Strings that are almost what a value type can read, for the tests that compare its schema with its parser."""

from datetime import datetime
from typing import Any

from windvane import Cron, Duration, LabelSelector, MicroTime, Quantity
from windvane.api import codec
from windvane.api.selector import Selector

READABLE: dict[Any, list[Any]] = {
    Cron: [
        "*/5 * * * *", "0 3 * * mon-fri", "@daily", "@every 1h30m", "0,15,30 8-18/2 1-31 jan,Mar-DEC 0-6", "? ? ? ? ?",
        "59 23 31 12 6", "00 09\t* * SUN", "5/15 0-23/3 01-07 * *", "@midnight",
        "10-12 * * 9-12 *", "9-10,1-59 * * * *",
    ],
    Duration: [
        "0", "0s", "1h30m", "1h30m0s", "90s", "250ms", "1.5h", "-2us", "+3µs", "4μs", "1m1h", ".5s", "876000h0m0s",
        "31536000s", "1h0.000001s", "999ns",
    ],
    Quantity: ["0", "1", 7, "500m", "1.5Gi", "100k", "1e3", "1E6", "-3", "+.5", "10Ei", "999999999999n", "2e-9"],
    datetime: [
        "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.123456789Z", "2006-01-02T15:04:05+01:00", "9999-12-31T23:59:59Z",
        "2024-02-29T23:59:59-23:59", "1000-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
    ],
    MicroTime: [
        "2006-01-02T15:04:05.000000Z", "2006-01-02T15:04:05.123456-05:30", "9999-12-31T23:59:59.999999Z",
        "0001-01-01T00:00:00.000000Z",
    ],
    bytes: ["YQ==", "YWI=", "YWJj", "+/+/"],
    LabelSelector: [
        {}, {"matchLabels": {"app": "web", "example.com/tier": ""}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
        {"matchExpressions": [{"key": "a.b/c", "operator": "Exists"}, {"key": "d", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [""]}]},
    ],
}  # fmt: skip
"""What the parser of each type reads, and its schema must accept."""

UNREADABLE: dict[Any, list[Any]] = {
    Cron: [
        "boo", "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *",
        "* * * * 7",
        "5-2 * * * *", "12-09 * * * *", "* * * feb-jan *", "* * * * Sat-SUN", "*/0 * * * *", "1/2/3 * * * *",
        "@dayly", "@every", "@every 1x", "@every 9999999h", "TZ=UTC 0 * * * *", "CRON_TZ=UTC 0 0 * * *",
        "* * * * mon-8",
        "30-29 * * * *", "* 21-20 * * *", "* * * * *\n* * * * *", "* * * * ſun", "* * * ſep-dec *",
    ],
    Duration: [
        "", "1", "h", "1d", "1h 30m", "9999999h", "2000000h2000000h", "1.2.3s", "--1s", "1h-30m", "PT5M",
        "99999999999999999999s", "300000000m",
    ],
    Quantity: ["", "1x", "Gi", ".", "-", "1e", "1e999999", "1 Gi", "1_000", "0x10", "1KI", "1" * 101, 1.5, "1e100"],
    datetime: [
        "", "now", "2006-01-02", "2006-01-02T15:04:05", "2006-13-02T15:04:05Z", "2023-02-29T00:00:00Z",
        "2006-01-02T25:04:05Z", "2006-01-02T15:04:05+99:99", "0000-01-01T00:00:00Z", "2006-01-02T15:04:05x1Z",
        "2006-01-02T15:04:60Z", 5, "9999-12-31T23:59:59.9999999Z", [], ["2006-01-02T15:04:05Z"],
    ],
    MicroTime: [
        "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.123Z", "2006-01-02T15:04:05.1234567Z",
        "0000-01-01T00:00:00.000000Z",
        "2006-01-02T15:04:05.000000+24:30", "2006-01-02T15:04:05x000000Z", "9999-12-31T23:59:59.999999-01:00", [],
    ],
    bytes: ["", "YQ=", "YQ", "Y Q==", "_-_-", "YQ==\n", 5, []],
    LabelSelector: [
        {"matchLabels": {"a b": "c"}}, {"matchLabels": {"a": "b c"}}, {"matchLabels": {"a/b/c": "d"}},
        {"matchLabels": {f"{'a' * 254}/b": "c"}}, {"matchLabels": {"a": "b" * 64}}, {"matchLabels": {"": "c"}},
        {"matchExpressions": [{"key": "app", "operator": "In"}]},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": []}]},
        {"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["a"]}]},
        {"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]},
        {"matchExpressions": [{"key": "-app", "operator": "Exists"}]},
        {"matchExpressions": [{"key": f"{'a' * 300}/b", "operator": "Exists"}]},
        {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]},
    ],
}  # fmt: skip
"""What the parser of each type can't read, and its schema must refuse."""


def read(value: Any, type_: Any) -> None:
    """Read a value as an operator would; ValueError if that can't be done."""
    found = codec.from_wire(value, type_)
    if type_ is LabelSelector:
        Selector.from_label_selector(found)
