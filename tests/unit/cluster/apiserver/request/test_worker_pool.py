"""Expressions that take long, and who waits for them: the request that they are about, and nobody else."""

import asyncio
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest

from unit.cluster.apiserver.servers import ask, running
from windvane import ambient
from windvane.api.cel.cost.limits import TakesLong, tick
from windvane.api.cel.rules import RuleTree
from windvane.api.openapi.keywords import Part
from windvane.cluster.apiserver.admission.policies.mutating_evaluator import MutatingPolicy
from windvane.cluster.apiserver.admission.policies.validating_evaluator import ValidatingPolicy
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.expressions import MatchConditions
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.admissionregistration.validating_admission_policy import (
    ValidatingAdmissionPolicyStrategy,
)
from windvane.cluster.apiserver.registry.apiextensions import custom_resource_definition
from windvane.cluster.apiserver.request import worker_pool
from windvane.cluster.apiserver.request.deadline import Deadlines
from windvane.cluster.apiserver.request.worker_pool import ON_THE_LOOP, SMALL, on_event_loop, run_costly

GIVE_UP = 20.0
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/demo.dev/v1/namespaces/default/things"
RULED = {"type": "object", "x-kubernetes-validations": [{"rule": "self.size == 1"}]}
THING = {"apiVersion": "demo.dev/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 1}}
CONFIG_MAP = {"metadata": {"name": "c"}}


def until_the_loop_turns() -> Callable[[], None]:
    """Something that takes as long as the event loop stands still; at the latest, it fails in the end."""
    loop, turned, began = asyncio.get_running_loop(), threading.Event(), ambient.stopwatch()

    def wait() -> None:
        loop.call_soon_threadsafe(turned.set)
        while not turned.is_set():
            tick()
            assert ambient.stopwatch() < began + GIVE_UP, "the event loop stands still"

    return wait


async def test_what_is_quick_is_done_at_once() -> None:
    assert await run_costly(threading.get_ident, {}) == threading.get_ident()


async def test_what_takes_long_is_done_while_the_loop_goes_on() -> None:
    await run_costly(until_the_loop_turns(), {})


async def test_much_that_is_quick_lets_others_have_their_turn() -> None:
    turned = asyncio.Event()
    asyncio.get_running_loop().call_soon(turned.set)

    def quick() -> None:
        began = ambient.stopwatch()
        while ambient.stopwatch() < began + ON_THE_LOOP / 10:
            pass

    for _ in range(20):
        await run_costly(quick, {})
    assert turned.is_set()


async def test_what_is_about_something_large_is_not_begun_on_the_loop() -> None:
    assert await run_costly(threading.get_ident, {"text": "x" * SMALL}) != threading.get_ident()


async def test_what_takes_longer_than_its_request_may_is_given_up() -> None:
    ended = threading.Event()

    def endless() -> None:
        try:
            while True:
                tick()
        finally:
            ended.set()

    async def answer() -> Answer:
        await run_costly(endless, {})
        return Answer()

    with pytest.raises(Failure, match="did not complete within the allotted timeout") as refused:
        await Deadlines().within(0.05, answer())
    assert refused.value.status.code == 504
    assert await asyncio.to_thread(ended.wait, GIVE_UP)


async def test_what_nobody_waits_for_any_more_ends() -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless() -> None:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
        try:
            while True:
                tick()
        finally:
            if begun.is_set():
                ended.set()

    waiting = asyncio.create_task(run_costly(endless, {}))
    assert await asyncio.to_thread(begun.wait, GIVE_UP)
    waiting.cancel()
    assert await asyncio.to_thread(ended.wait, GIVE_UP)


@pytest.mark.parametrize("turns", [(GIVE_UP, 0.0, 0.0), (0.0, GIVE_UP, 0.0)])
async def test_who_needs_little_does_not_wait_for_who_needs_for_ever(
    monkeypatch: pytest.MonkeyPatch, turns: tuple[float, ...]
) -> None:
    begun = threading.Event()

    def endless() -> None:
        while True:
            tick()
            if threading.current_thread() is not threading.main_thread():
                begun.set()

    monkeypatch.setattr(worker_pool, "TURNS", (0.0, 0.0, 10 * GIVE_UP))
    for_ever = asyncio.create_task(run_costly(endless, {}))
    assert await asyncio.to_thread(begun.wait, GIVE_UP)
    monkeypatch.setattr(worker_pool, "TURNS", turns)
    async with asyncio.timeout(GIVE_UP):
        await run_costly(tick, {"text": "x" * SMALL})
    for_ever.cancel()


async def test_questions_are_answered_on_the_loop() -> None:
    ask_where = on_event_loop(lambda _: threading.get_ident())
    wait = until_the_loop_turns()

    def work() -> tuple[int, int]:
        wait()
        return threading.get_ident(), ask_where("where are you?")

    here, answered = await run_costly(work, {"text": "x" * SMALL})
    assert here != answered == threading.get_ident()


@pytest.mark.parametrize("loop_is", ["closed", "about to close"])
def test_what_is_asked_when_the_loop_has_ended_is_given_up(loop_is: str) -> None:
    """Whoever waited is gone, but the thread may notice that late. It leaves nothing behind that Python warns of."""
    begun, loop_ended, ended = threading.Event(), threading.Event(), threading.Event()
    problems: list[Exception] = []

    async def wait_for_it() -> None:
        ask_here = on_event_loop(lambda question: question)

        def work() -> None:
            begun.set()
            try:
                assert loop_ended.wait(GIVE_UP)
                ask_here("is anybody there?")
            except Exception as problem:
                problems.append(problem)
                raise
            finally:
                ended.set()

        waiting = asyncio.create_task(run_costly(work, {"text": "x" * SMALL}))
        assert await asyncio.to_thread(begun.wait, GIVE_UP)
        waiting.cancel()
        await asyncio.wait([waiting])

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(wait_for_it())
        loop.run_until_complete(loop.shutdown_default_executor())
        if loop_is == "closed":
            loop.close()
        loop_ended.set()
        assert ended.wait(GIVE_UP)
    finally:
        loop.close()
    assert [type(problem) for problem in problems] == [TakesLong]
    gc.collect()


def definition(**stated: Any) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True}
    schema = {
        "type": "object",
        "properties": {"spec": {**(stated or RULED), "properties": {"size": {"type": "integer"}}}},
    }
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    spec = {"group": "demo.dev", "scope": "Namespaced", "names": names}
    versions = [{**version, "schema": {"openAPIV3Schema": schema}}]
    return {"metadata": {"name": "things.demo.dev"}, "spec": {**spec, "versions": versions}}


def policy(kind: str, **spec: Any) -> list[tuple[str, Any]]:
    """A policy about ConfigMaps with its binding."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    bound = {"policyName": "p", **({"validationActions": ["Deny"]} if kind == "validating" else {})}
    stated = {"matchConstraints": {"resourceRules": [rule]}, **spec}
    path = f"POST {REGISTRATION}/{kind}admission"
    return [
        (f"{path}policies", {"metadata": {"name": "p"}, "spec": stated}),
        (f"{path}policybindings", {"metadata": {"name": "p"}, "spec": bound}),
    ]


MUTATION = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
CREATING_THING = [(f"POST {CRDS}", definition()), (f"POST {THINGS}", THING)]
LARGE = definition(type="object", description="x" * SMALL)
CREATING_LARGE_THING = [(f"POST {CRDS}", LARGE), (f"POST {THINGS}", THING)]
CREATING_CONFIG_MAP = ("POST /api/v1/namespaces/default/configmaps", CONFIG_MAP)
CONDITION = {"name": "c", "expression": "true"}
VALIDATING = [*policy("validating", validations=[{"expression": "true"}]), CREATING_CONFIG_MAP]
MUTATING = [
    *policy("mutating", mutations=[MUTATION], matchConditions=[CONDITION], reinvocationPolicy="Never"),
    CREATING_CONFIG_MAP,
]


@pytest.mark.parametrize(
    ("place", "name", "requests"),
    [
        (custom_resource_definition, "check_definition", CREATING_THING),
        (RuleTree, "__init__", CREATING_THING),
        (RuleTree, "judge", CREATING_THING),
        (Part, "__init__", CREATING_LARGE_THING),
        (ValidatingAdmissionPolicyStrategy, "validate_new", VALIDATING),
        (ValidatingPolicy, "__init__", VALIDATING),
        (ValidatingPolicy, "judge", VALIDATING),
        (MutatingPolicy, "__init__", MUTATING),
        (MutatingPolicy, "_value", MUTATING),
        (MatchConditions, "met", MUTATING),
    ],
    ids=lambda each: each if isinstance(each, str) else getattr(each, "__name__", ""),
)
async def test_while_expressions_are_read_and_run_the_loop_goes_on(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, requests: list[tuple[str, Any]]
) -> None:
    done, wait = getattr(place, name), until_the_loop_turns()

    def taking_long(*args: Any, **options: Any) -> Any:
        wait()
        return done(*args, **options)

    monkeypatch.setattr(place, name, taking_long)
    async with running() as server:
        for request, body in requests:
            answer = await ask(server, request, body)
            assert answer.code == 201, answer.body
