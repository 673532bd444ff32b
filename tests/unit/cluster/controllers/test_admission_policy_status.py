"""Policies whose expressions take long to look at hold up nobody, and are given up in the end."""

import asyncio
import threading
from typing import Any, cast

import pytest

from windvane.api.cel import policy_type_checker
from windvane.api.cel.cost.limits import Deadline, TakesLong, tick
from windvane.api.cel.policy_type_checker import Checked
from windvane.api.kind import Kind
from windvane.api.meta import ObjectMeta
from windvane.api.resource import kind_of
from windvane.client.client import Client
from windvane.cluster.controllers import admission_policy_status
from windvane.k8s.admissionregistration import ValidatingAdmissionPolicy

GIVE_UP = 20.0
POLICY = ValidatingAdmissionPolicy(metadata=ObjectMeta(name="p"))
EXPRESSIONS = [Checked("first", "true"), Checked("second", "false")]
TOO_LONG = "types from here on were not checked, because that takes too long"


class Nothing:
    """A cluster that serves nothing."""

    async def discover(self) -> list[Kind]:
        return []


class Endless:
    """A check that goes on for as long as it may."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        monkeypatch.setattr(policy_type_checker, "warnings", self)

    def __call__(self, *_: Any) -> None:
        self.begun.set()
        try:
            while True:
                tick()
        finally:
            self.ended.set()


async def check() -> None:
    await admission_policy_status.warnings(POLICY, cast("Client", Nothing()))


@pytest.mark.parametrize("variables", [[], [("v", "1")]])
def test_where_checking_was_given_up_is_told(variables: list[tuple[str, str]]) -> None:
    with Deadline(0):
        found = policy_type_checker.warnings(EXPRESSIONS, variables, [(kind_of(ValidatingAdmissionPolicy), {})])
    assert found == [("first", TOO_LONG)]


def test_checking_can_be_given_up_where_there_are_only_variables() -> None:
    with Deadline(0):
        found = policy_type_checker.warnings([], [("v", "1")], [(kind_of(ValidatingAdmissionPolicy), {})])
    assert found == [("spec.variables", TOO_LONG)]


async def test_one_policy_is_not_looked_at_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission_policy_status, "LONGEST", 0.01)
    endless = Endless(monkeypatch)
    with pytest.raises(TakesLong):
        await check()
    assert endless.ended.is_set()


async def test_nobody_goes_on_checking_for_a_controller_that_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission_policy_status, "LONGEST", 10 * GIVE_UP)
    endless = Endless(monkeypatch)
    looking = asyncio.create_task(check())
    assert await asyncio.to_thread(endless.begun.wait, GIVE_UP)
    looking.cancel()
    assert await asyncio.to_thread(endless.ended.wait, GIVE_UP)
