"""Which schedules are refused when they are written: those that a CronJob would refuse later."""

import re

import pytest

from etcd_operator.schedule import SCHEDULE
from windvane import Cron

GOOD = [
    "0 2 * * *",
    "*/5 * * * *",
    "0,30 8-18 * * 1-5",
    "0 0 1 jan,JUL *",
    "15 3 * * sun",
    "0 0 1-7/2 * MON",
    "@daily",
    "@hourly",
]
BAD = ["", "0 2 * *", "0 2 * * * *", "60 2 * * *", "0 24 * * *", "0 2 0 * *", "0 2 32 * *", "0 2 * 13 *", "at night"]
BAD += ["0 2 * * 8", "@often", "0 2 * * mon-", "*/0 * * * *", "@every 5m"]


@pytest.mark.parametrize("text", GOOD)
def test_a_good_schedule_matches(text: str) -> None:
    assert re.search(SCHEDULE, text)
    Cron(text)


@pytest.mark.parametrize("text", BAD)
def test_a_bad_one_does_not(text: str) -> None:
    assert not re.search(SCHEDULE, text)
